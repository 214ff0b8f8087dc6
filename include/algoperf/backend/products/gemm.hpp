// Matrix products of the host backend. All matrices are row-major; lda, ldb and ldc are leading dimensions as in
// BLAS.
//   gemm_nn  C (m x n) = A (m x k) B (k x n)
//   gemm_nt  C (m x n) = A (m x k) B^T, B is n x k
//   gemm_tn  C (m x n) = A^T B (k x n), A is k x m
// If `accumulate` is true, the product is added to C. S is float or double.
//
// By default every source file compiles its own copy (gemm_default.hpp). Define ALGOPERF_EXTERN_GEMM and link
// algoperf::gemm to compile the products once per program, with the provider that this library was configured with:
// ALGOPERF_GEMM, which is tiles, eigen, onednn or cblas.
#pragma once

#include <cstddef>
#include <string>

namespace algoperf {

// Never inlined: each product has one copy, so that every call runs the same instructions.

template <class S>
__attribute__((noinline)) void gemm_nn(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda,
                                       const S* b, std::size_t ldb, S* c, std::size_t ldc, bool accumulate);
template <class S>
__attribute__((noinline)) void gemm_nt(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda,
                                       const S* b, std::size_t ldb, S* c, std::size_t ldc, bool accumulate);
template <class S>
__attribute__((noinline)) void gemm_tn(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda,
                                       const S* b, std::size_t ldb, S* c, std::size_t ldc, bool accumulate);

// Returns who computes the products of algoperf::gemm, and for which instruction set. Only with ALGOPERF_EXTERN_GEMM.
std::string products_by();

}  // namespace algoperf

#if !defined(ALGOPERF_EXTERN_GEMM) && !defined(ALGOPERF_GEMM_CHOSEN)
#include "gemm_default.hpp"
#endif
