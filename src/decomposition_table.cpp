// The matrix decompositions by Eigen, for one instruction set. Eigen's namespace is renamed like the library's.
#include "decomposition_tables.hpp"
#include "renamed.hpp"

namespace tables = algoperf::decompositions;

#define Eigen ALGOPERF_JOIN(EigenOfAlgoperf, ALGOPERF_INSTRUCTION_SET)
#define algoperf ALGOPERF_RENAMED
#include "algoperf/backend/products/linear_algebra.hpp"
#include "algoperf/backend/products/linear_algebra_eigen.hpp"

namespace {

template <class S>
constexpr tables::Functions<S> functions{algoperf::LinearAlgebra<S>::eigh, algoperf::LinearAlgebra<S>::qr};

}  // namespace

constinit const tables::Table tables::ALGOPERF_INSTRUCTION_SET{functions<float>, functions<double>};
