// Matrix products of floats that round the factors to bfloat16 (to nearest, ties to even) and add in float, by the
// instructions AVX512_BF16 of x86 (Zen 4, Cooper Lake, Sapphire Rapids and later). Each lane of a vector multiplies two
// factors of A by two of B and adds both products to its sum. Denormal factors and sums become zero.
//
// Without algoperf::gemm, only files that are compiled for these instructions use them (-march=native on such a
// processor). algoperf::gemm chooses at run time.
#pragma once

#include <cstddef>
#include <type_traits>

#include "../../core/config.hpp"
#include "../precision.hpp"
#include "gemm.hpp"

// Files that differ in these macros may be linked into one program, so the macros also name a namespace.
#if defined(ALGOPERF_EXTERN_GEMM)
#define ALGOPERF_BFLOAT16_PRODUCTS 1
#define ALGOPERF_BFLOAT16_NAMESPACE bfloat16_by_component
#elif defined(__AVX512BF16__) && defined(__x86_64__) && !ALGOPERF_IN_CUDA_FILE
#include "tiles/bfloat16.hpp"
#define ALGOPERF_BFLOAT16_PRODUCTS 1
#define ALGOPERF_BFLOAT16_NAMESPACE bfloat16_by_avx512
#else
#define ALGOPERF_BFLOAT16_PRODUCTS 0
#define ALGOPERF_BFLOAT16_NAMESPACE no_bfloat16
#endif

namespace algoperf {
inline namespace ALGOPERF_BFLOAT16_NAMESPACE {

// C (m x n, row-major) = A (m x k) B (k x n), or the product is added to C. Element [i][j] of A is
// a[i * a_row + j * a_column], and alike for B. In each matrix, the row step or the column step is 1. An element of C
// has the same bits whatever m and n. Products of few rows or columns take longer than in float. It is defined, and may
// be called, only where multiplies_bfloat16() is true.
void gemm_bfloat16(std::size_t m, std::size_t n, std::size_t k, const float* a, std::size_t a_row, std::size_t a_column,
                   const float* b, std::size_t b_row, std::size_t b_column, float* c, std::size_t ldc, bool accumulate);

#if defined(ALGOPERF_EXTERN_GEMM)
// Whether the processor has the instructions and ALGOPERF_INSTRUCTION_SET, if set, permits AVX-512.
bool multiplies_bfloat16();
#else
constexpr bool multiplies_bfloat16() { return ALGOPERF_BFLOAT16_PRODUCTS; }
#if ALGOPERF_BFLOAT16_PRODUCTS
__attribute__((noinline)) inline void gemm_bfloat16(std::size_t m, std::size_t n, std::size_t k, const float* a,
                                                    std::size_t a_row, std::size_t a_column, const float* b,
                                                    std::size_t b_row, std::size_t b_column, float* c, std::size_t ldc,
                                                    bool accumulate) {
  detail::tiled::multiply_bfloat16(m, n, k, a, a_row, a_column, b, b_row, b_column, c, ldc, accumulate);
}
#endif
#endif

template <class S>
inline constexpr bool may_use_bfloat16 = ALGOPERF_BFLOAT16_PRODUCTS != 0 && std::is_same_v<S, float>;

// Whether products of S in this precision are computed in bfloat16.
template <class S>
bool uses_bfloat16(Precision precision) {
  return may_use_bfloat16<S> && precision == Precision::bf16 && multiplies_bfloat16();
}

// The products of gemm.hpp in this precision.

template <class S>
void gemm_nn(Precision precision, std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda, const S* b,
             std::size_t ldb, S* c, std::size_t ldc, bool accumulate) {
  if constexpr (may_use_bfloat16<S>)
    if (uses_bfloat16<S>(precision)) return gemm_bfloat16(m, n, k, a, lda, 1, b, ldb, 1, c, ldc, accumulate);
  algoperf::gemm_nn(m, n, k, a, lda, b, ldb, c, ldc, accumulate);
}
template <class S>
void gemm_nt(Precision precision, std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda, const S* b,
             std::size_t ldb, S* c, std::size_t ldc, bool accumulate) {
  if constexpr (may_use_bfloat16<S>)
    if (uses_bfloat16<S>(precision)) return gemm_bfloat16(m, n, k, a, lda, 1, b, 1, ldb, c, ldc, accumulate);
  algoperf::gemm_nt(m, n, k, a, lda, b, ldb, c, ldc, accumulate);
}
template <class S>
void gemm_nt_bias(Precision precision, std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda,
                  const S* b, std::size_t ldb, const S* bias, S* c, std::size_t ldc) {
  if (!uses_bfloat16<S>(precision)) return algoperf::gemm_nt_bias(m, n, k, a, lda, b, ldb, bias, c, ldc);
  detail::copy_bias(m, n, bias, c, ldc);
  gemm_nt(precision, m, n, k, a, lda, b, ldb, c, ldc, bias != nullptr);
}
template <class S>
void gemm_tn(Precision precision, std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda, const S* b,
             std::size_t ldb, S* c, std::size_t ldc, bool accumulate) {
  if constexpr (may_use_bfloat16<S>)
    if (uses_bfloat16<S>(precision)) return gemm_bfloat16(m, n, k, a, 1, lda, b, ldb, 1, c, ldc, accumulate);
  algoperf::gemm_tn(m, n, k, a, lda, b, ldb, c, ldc, accumulate);
}

}  // namespace ALGOPERF_BFLOAT16_NAMESPACE
}  // namespace algoperf
