// Matrix products for the host backend, all row-major; lda, ldb and ldc are the distances between rows, as in BLAS.
//   gemm_nn  C (m x n) = A (m x k) B (k x n)
//   gemm_nt  C (m x n) = A (m x k) B^T, B is n x k
//   gemm_tn  C (m x n) = A^T B (k x n), A is k x m
// With accumulate, C is added to. Eigen does the work, inline; define ALGOPERF_EXTERN_GEMM and link algoperf::gemm to
// compile Eigen's products once for a whole program instead of once a file.
#pragma once

#include <cstddef>

namespace algoperf {

#define ALGOPERF_DECLARE_GEMM(name, S)                                                                             \
  void name(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda, const S* b, std::size_t ldb, \
            S* c, std::size_t ldc, bool accumulate)
ALGOPERF_DECLARE_GEMM(gemm_nn, float);
ALGOPERF_DECLARE_GEMM(gemm_nt, float);
ALGOPERF_DECLARE_GEMM(gemm_tn, float);
ALGOPERF_DECLARE_GEMM(gemm_nn, double);
ALGOPERF_DECLARE_GEMM(gemm_nt, double);
ALGOPERF_DECLARE_GEMM(gemm_tn, double);
#undef ALGOPERF_DECLARE_GEMM

}  // namespace algoperf

#if !defined(ALGOPERF_EXTERN_GEMM)
#include "gemm_eigen.hpp"
#endif
