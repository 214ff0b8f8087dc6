// A product of floats in bfloat16, by the instructions of AVX512_BF16. A vector of 16 pairs of terms (2p, 2p + 1), one
// pair per column of B, is multiplied by one pair of a row of A and added to 16 sums.
//
// The functions have a target attribute, so that a file that is compiled for another processor can contain them.
#pragma once

#include "../../../core/config.hpp"
#if defined(__x86_64__) && !ALGOPERF_IN_CUDA_FILE
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "../../host/instruction_set.hpp"
#include "buffer.hpp"

#define ALGOPERF_FOR_AVX512_BF16 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")))

namespace algoperf::detail::tiled {
inline namespace ALGOPERF_SIMD {

// 12 rows by two vectors of sums, two vectors of B and a pair of A fit in the 32 registers.
inline constexpr std::size_t bfloat16_rows = 12, bfloat16_columns = 32;
// The packed block of B, 256 pairs by 1024 columns, takes 1 MB, and a panel of 32 columns 32 KB.
inline constexpr std::size_t bfloat16_pairs = 256, bfloat16_block = 1024;

// The first `count` of 16 lanes.
inline std::uint16_t first_of_16(std::size_t count) {
  return static_cast<std::uint16_t>(count >= 16 ? 0xFFFFu : (1u << count) - 1u);
}

// Packs one panel, `width` rows of A or columns of B, of which `count` exist; the others are zero. Pair p of row i, its
// terms 2p and 2p + 1, becomes to[p * width + i]. Term l of row i is x[i * step + l * term_step], where one of the
// steps is 1. If the number of terms is odd, the second term of the last pair is zero.
ALGOPERF_FOR_AVX512_BF16 __attribute__((noinline)) inline void pack_bfloat16(std::size_t width, std::size_t count,
                                                                             std::size_t terms, const float* x,
                                                                             std::size_t step, std::size_t term_step,
                                                                             std::uint32_t* to) {
  const std::size_t pairs = (terms + 1) / 2;
  if (step == 1) {
    for (std::size_t p = 0; p < pairs; ++p)
      for (std::size_t i = 0; i < width; i += 16) {
        const __mmask16 lanes = first_of_16(count > i ? count - i : 0);
        const bool has_second = 2 * p + 1 < terms;
        const float* const from = x + 2 * p * term_step + i;
        const __m512 first = _mm512_maskz_loadu_ps(lanes, from);
        const __m512 second = has_second ? _mm512_maskz_loadu_ps(lanes, from + term_step) : _mm512_setzero_ps();
        // g++ 12 warns of these without a mask, which begin with an undefined vector.
        constexpr __mmask16 all = 0xFFFF;
        const auto of_first = __builtin_bit_cast(__m256i, _mm512_cvtneps_pbh(first));
        const auto of_second = __builtin_bit_cast(__m256i, _mm512_cvtneps_pbh(second));
        const __m512i low = _mm512_maskz_cvtepu16_epi32(all, of_first);
        const __m512i high = _mm512_maskz_slli_epi32(all, _mm512_maskz_cvtepu16_epi32(all, of_second), 16);
        _mm512_mask_storeu_epi32(to + p * width + i, first_of_16(width - i), _mm512_or_si512(low, high));
      }
    return;
  }
  for (std::size_t i = 0; i < width; ++i)
    for (std::size_t l = 0; l < terms; l += 32) {
      const std::size_t some = i < count ? terms - l : 0;
      const float* const from = x + i * step + l;
      const __m512 first = _mm512_maskz_loadu_ps(first_of_16(some), from);
      const __m512 second = some > 16 ? _mm512_maskz_loadu_ps(first_of_16(some - 16), from + 16) : _mm512_setzero_ps();
      alignas(64) std::uint32_t line[16];
      _mm512_store_si512(line, __builtin_bit_cast(__m512i, _mm512_cvtne2ps_pbh(second, first)));
      for (std::size_t p = 0; p < 16 && l / 2 + p < pairs; ++p) to[(l / 2 + p) * width + i] = line[p];
    }
}

// C (rows x columns, at most 12 x 32) = or += the product of a panel of A and one of B.
ALGOPERF_FOR_AVX512_BF16 __attribute__((noinline)) inline void bfloat16_tile(std::size_t pairs, const std::uint32_t* a,
                                                                             const std::uint32_t* b, std::size_t rows,
                                                                             std::size_t columns, float* c,
                                                                             std::size_t ldc, bool add) {
  __m512 left[bfloat16_rows], right[bfloat16_rows];
  ALGOPERF_UNROLL for (std::size_t i = 0; i < bfloat16_rows; ++i) left[i] = right[i] = _mm512_setzero_ps();
  for (std::size_t p = 0; p < pairs; ++p) {
    const auto b_left = __builtin_bit_cast(__m512bh, _mm512_loadu_si512(b + p * bfloat16_columns));
    const auto b_right = __builtin_bit_cast(__m512bh, _mm512_loadu_si512(b + p * bfloat16_columns + 16));
    ALGOPERF_UNROLL for (std::size_t i = 0; i < bfloat16_rows; ++i) {
      const auto pair = __builtin_bit_cast(__m512bh, _mm512_set1_epi32(static_cast<int>(a[p * bfloat16_rows + i])));
      left[i] = _mm512_dpbf16_ps(left[i], pair, b_left);
      right[i] = _mm512_dpbf16_ps(right[i], pair, b_right);
    }
  }
  const __mmask16 of_left = first_of_16(columns), of_right = first_of_16(columns > 16 ? columns - 16 : 0);
  ALGOPERF_UNROLL for (std::size_t i = 0; i < bfloat16_rows; ++i) if (i < rows) {
    float* const to = c + i * ldc;
    if (add) {
      left[i] = _mm512_add_ps(_mm512_maskz_loadu_ps(of_left, to), left[i]);
      right[i] = _mm512_add_ps(_mm512_maskz_loadu_ps(of_right, to + 16), right[i]);
    }
    _mm512_mask_storeu_ps(to, of_left, left[i]);
    _mm512_mask_storeu_ps(to + 16, of_right, right[i]);
  }
}

// gemm_bfloat16 (products/gemm_bfloat16.hpp).
inline void multiply_bfloat16(std::size_t m, std::size_t n, std::size_t k, const float* a, std::size_t a_row,
                              std::size_t a_column, const float* b, std::size_t b_row, std::size_t b_column, float* c,
                              std::size_t ldc, bool accumulate) {
  constexpr std::size_t depth = 2 * bfloat16_pairs;
  const auto least = [](std::size_t x, std::size_t y) { return x < y ? x : y; };
  thread_local Buffer<std::uint32_t> buffer;
  std::uint32_t* const a_panel = buffer.of_size(bfloat16_pairs * (bfloat16_rows + bfloat16_block));
  std::uint32_t* const b_panels = a_panel + bfloat16_pairs * bfloat16_rows;
  for (std::size_t block = 0; block < n; block += bfloat16_block)
    for (std::size_t l = 0; l == 0 || l < k; l += depth) {
      const std::size_t columns = least(n - block, bfloat16_block), terms = least(k - l, depth);
      const std::size_t pairs = (terms + 1) / 2;
      for (std::size_t j = 0; j < columns; j += bfloat16_columns)
        pack_bfloat16(bfloat16_columns, least(columns - j, bfloat16_columns), terms,
                      b + l * b_row + (block + j) * b_column, b_column, b_row, b_panels + j * pairs);
      for (std::size_t i = 0; i < m; i += bfloat16_rows) {
        const std::size_t rows = least(m - i, bfloat16_rows);
        pack_bfloat16(bfloat16_rows, rows, terms, a + i * a_row + l * a_column, a_row, a_column, a_panel);
        for (std::size_t j = 0; j < columns; j += bfloat16_columns)
          bfloat16_tile(pairs, a_panel, b_panels + j * pairs, rows, least(columns - j, bfloat16_columns),
                        c + i * ldc + block + j, ldc, accumulate || l > 0);
      }
    }
}

}  // namespace ALGOPERF_SIMD
}  // namespace algoperf::detail::tiled

#undef ALGOPERF_FOR_AVX512_BF16
#endif
