// The matrix decompositions of the library algoperf::gemm, by Eigen, compiled once. With ALGOPERF_DISPATCH, they are
// compiled for several instruction sets instead (decomposition_table.cpp).
#if defined(ALGOPERF_DISPATCH)
#include "algoperf/backend/products/linear_algebra.hpp"

#include "decomposition_tables.hpp"
#include "dispatch.hpp"

namespace algoperf {
namespace {

template <class S>
const decompositions::Functions<S>& functions() {
  static const decompositions::Functions<S>& chosen =
      dispatched(decompositions::sse2, decompositions::avx2, decompositions::avx512);
  return chosen;
}

}  // namespace

template <class S>
bool LinearAlgebra<S>::eigh(std::size_t n, const S* a, S* values, S* vectors) {
  return functions<S>().eigh(n, a, values, vectors);
}
template <class S>
void LinearAlgebra<S>::qr(std::size_t n, const S* a, S* q) {
  functions<S>().qr(n, a, q);
}

}  // namespace algoperf

#else
// Eigen's namespace is renamed, because a program that links this library may include Eigen with other flags.
#define Eigen EigenOfAlgoperf
#include "algoperf/backend/products/linear_algebra.hpp"
#include "algoperf/backend/products/linear_algebra_eigen.hpp"
#endif

template struct algoperf::LinearAlgebra<float>;
template struct algoperf::LinearAlgebra<double>;
