// Matrix products of the host backend. All matrices are row-major; lda, ldb and ldc are leading dimensions as in
// BLAS.
//   gemm_nn  C (m x n) = A (m x k) B (k x n)
//   gemm_nt  C (m x n) = A (m x k) B^T, B is n x k
//   gemm_tn  C (m x n) = A^T B (k x n), A is k x m
//   gemm_nt_bias  as gemm_nt, plus `bias` (n), if it is not null, in each row of C
// If `accumulate` is true, the product is added to C. S is float or double.
//
// By default every source file compiles its own copy (gemm_default.hpp). Define ALGOPERF_EXTERN_GEMM and link
// algoperf::gemm to compile the products once per program, with the provider that this library was configured with:
// ALGOPERF_GEMM, which is tiles, eigen, onednn or cblas. The macro also leaves the parts of training programs to
// algoperf::gemm that core/config.hpp and compiled.hpp describe.
#pragma once

#include <cstddef>

#include "../host/instruction_set.hpp"

namespace algoperf {

// Never inlined: each product has one copy, so that every call runs the same instructions.

template <class S>
__attribute__((noinline)) void gemm_nn(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda,
                                       const S* b, std::size_t ldb, S* c, std::size_t ldc, bool accumulate);
template <class S>
__attribute__((noinline)) void gemm_nt(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda,
                                       const S* b, std::size_t ldb, S* c, std::size_t ldc, bool accumulate);
template <class S>
__attribute__((noinline)) void gemm_nt_bias(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda,
                                            const S* b, std::size_t ldb, const S* bias, S* c, std::size_t ldc);
template <class S>
__attribute__((noinline)) void gemm_tn(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda,
                                       const S* b, std::size_t ldb, S* c, std::size_t ldc, bool accumulate);

#if defined(ALGOPERF_EXTERN_GEMM)
// Describes the provider that computes products and convolutions in algoperf::gemm, for example "products,
// convolutions: oneDNN 2.6 for float, the library's tiles for double". Throws Error if the environment variable
// ALGOPERF_INSTRUCTION_SET is invalid or names an instruction set that this processor lacks.
const char* gemm_provider();

// Describes what a file that is compiled for `level` takes from algoperf::gemm besides products, for example
// "decompositions, common update rules and activations: for AVX-512, chosen at run time". Throws Error as gemm_provider
// does.
const char* gemm_kernels(InstructionSet level);
#endif

// Host divides C among threads. If the part of a thread begins at a multiple of this many columns, or at a multiple of
// 16 rows, each element has the same bits as in one call for all of C. 0: the bits may depend on how many rows and
// columns a call computes; Host then divides C in the same way for every number of threads.
template <class S>
std::size_t gemm_column_step();

namespace detail {

// Copies the bias, if it is not null, to every row of C.
template <class S>
void copy_bias(std::size_t m, std::size_t n, const S* bias, S* c, std::size_t ldc) {
  for (std::size_t i = 0; bias != nullptr && i < m; ++i)
    for (std::size_t j = 0; j < n; ++j) c[i * ldc + j] = bias[j];
}
// gemm_nt_bias for providers without such a product.
template <class S>
void add_product_to_bias(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda, const S* b,
                         std::size_t ldb, const S* bias, S* c, std::size_t ldc) {
  copy_bias(m, n, bias, c, ldc);
  gemm_nt(m, n, k, a, lda, b, ldb, c, ldc, bias != nullptr);
}

}  // namespace detail

}  // namespace algoperf

#if !defined(ALGOPERF_EXTERN_GEMM) && !defined(ALGOPERF_GEMM_CHOSEN)
#include "gemm_default.hpp"
#endif
