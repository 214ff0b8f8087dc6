// Matrix products for the host backend, all row-major; lda, ldb and ldc are the distances between rows, as in BLAS.
//   gemm_nn  C (m x n) = A (m x k) B (k x n)
//   gemm_nt  C (m x n) = A (m x k) B^T, B is n x k
//   gemm_tn  C (m x n) = A^T B (k x n), A is k x m
// With accumulate, C is added to. S is float or double. They are compiled where they are first used (gemm_default.hpp);
// define ALGOPERF_EXTERN_GEMM and link algoperf::gemm to have them compiled once for a whole program instead of once a
// file, and by the provider that this library was configured with: ALGOPERF_GEMM, which is default, tiles, eigen,
// onednn or cblas.
#pragma once

#include <cstddef>

namespace algoperf {

// Never inlined into their callers: one copy of each product, compiled the same wherever it is called from.

template <class S>
__attribute__((noinline)) void gemm_nn(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda,
                                       const S* b, std::size_t ldb, S* c, std::size_t ldc, bool accumulate);
template <class S>
__attribute__((noinline)) void gemm_nt(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda,
                                       const S* b, std::size_t ldb, S* c, std::size_t ldc, bool accumulate);
template <class S>
__attribute__((noinline)) void gemm_tn(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda,
                                       const S* b, std::size_t ldb, S* c, std::size_t ldc, bool accumulate);

}  // namespace algoperf

#if !defined(ALGOPERF_EXTERN_GEMM) && !defined(ALGOPERF_GEMM_CHOSEN)
#include "gemm_default.hpp"
#endif
