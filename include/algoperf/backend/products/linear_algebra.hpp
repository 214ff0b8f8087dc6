// The decompositions behind a backend's eigh and qr (backend/concept.hpp), for the rules that need them (shampoo,
// soap). They are slow to compile, so algoperf.hpp does not include them: include this header by name. With
// ALGOPERF_EXTERN_GEMM it only declares them, and algoperf::gemm contains the compiled code. Eigen computes them on
// one thread and in double, for every S. Each call allocates temporary memory.
#pragma once

#include <cstddef>

#include "../concept.hpp"

namespace algoperf {

// All matrices are n x n and row-major, in host memory.
template <class S>
struct LinearAlgebra {
  // A = V diag(values) V^T for a symmetric A, of which only the lower triangle is read. Values ascend, and column j
  // of V is the eigenvector of value j. Returns false and writes nothing if A is not finite or the iteration does not
  // converge.
  static bool eigh(std::size_t n, const S* a, S* values, S* vectors);
  // The orthogonal Q of A = Q R, by Householder reflections. Q is orthogonal for every rank of A.
  static void qr(std::size_t n, const S* a, S* q);
};

}  // namespace algoperf

#if !defined(ALGOPERF_EXTERN_GEMM)
#include "linear_algebra_eigen.hpp"
#endif
