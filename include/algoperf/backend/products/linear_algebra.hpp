// Decompositions behind a backend's eigh and qr (backend/concept.hpp), for the rules that need them (shampoo, soap).
// They take long to compile, so the umbrella leaves them out: include this header by name. With ALGOPERF_EXTERN_GEMM it
// only declares them, and algoperf::gemm holds them compiled. Eigen does the work, on one thread and in double whatever
// S is; it takes memory of its own meanwhile.
#pragma once

#include <cstddef>

#include "../concept.hpp"

namespace algoperf {

// All matrices are n x n and row-major, in host memory.
template <class S>
struct LinearAlgebra {
  // A = V diag(values) V^T of a symmetric A, whose lower triangle is read: values ascend, column j of V belongs to
  // value j. False, and nothing written, where A is not finite or the iteration does not converge.
  static bool eigh(std::size_t n, const S* a, S* values, S* vectors);
  // The orthogonal Q of A = Q R, by Householder reflections: orthogonal whatever the rank of A.
  static void qr(std::size_t n, const S* a, S* q);
};

}  // namespace algoperf

#if !defined(ALGOPERF_EXTERN_GEMM)
#include "linear_algebra_eigen.hpp"
#endif
