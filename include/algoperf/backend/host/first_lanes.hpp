// Loads and stores of parts of a Vector.
//   load_first   loads the first `count` lanes, at most a whole vector, and zeroes the others
//   store_first  stores the first `count` lanes
// Neither touches the memory behind them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../core/config.hpp"
#include "vector.hpp"

namespace algoperf::detail {
inline namespace ALGOPERF_SIMD {

#if defined(__AVX512F__) && !ALGOPERF_IN_CUDA_FILE

template <class S>
ALGOPERF_INLINE Vector<S> load_first(const S* from, std::size_t count) {
  using Native = typename Vector<S>::Native;
  const unsigned mask = (1u << count) - 1;
  if constexpr (sizeof(S) == 4)
    return Native(_mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), from));
  else
    return Native(_mm512_maskz_loadu_pd(static_cast<__mmask8>(mask), from));
}
template <class S>
ALGOPERF_INLINE void store_first(Vector<S> x, S* to, std::size_t count) {
  const unsigned mask = (1u << count) - 1;
  if constexpr (sizeof(S) == 4)
    _mm512_mask_storeu_ps(to, static_cast<__mmask16>(mask), x.lanes);
  else
    _mm512_mask_storeu_pd(to, static_cast<__mmask8>(mask), x.lanes);
}

#elif defined(__AVX__) && !ALGOPERF_IN_CUDA_FILE

// A mask whose first `count` lanes of the size of S are set.
template <class S>
ALGOPERF_INLINE __m256i first_lanes(std::size_t count) {
  static constexpr std::int32_t ones_then_zeros[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
  __m256i mask;
  __builtin_memcpy(&mask, ones_then_zeros + 8 - count * (sizeof(S) / 4), sizeof mask);
  return mask;
}
template <class S>
ALGOPERF_INLINE Vector<S> load_first(const S* from, std::size_t count) {
  using Native = typename Vector<S>::Native;
  if constexpr (sizeof(S) == 4)
    return Native(_mm256_maskload_ps(from, first_lanes<S>(count)));
  else
    return Native(_mm256_maskload_pd(from, first_lanes<S>(count)));
}
// Stores halves of what is left, because AMD's Zen 3 executes masked stores slowly: with them, products of 4096 x 10
// with ten terms took 1.3 to 1.4 times as long.
template <class S>
ALGOPERF_INLINE void store_first(Vector<S> x, S* to, std::size_t count) {
  constexpr std::size_t n = Vector<S>::width;
  if (count >= n) return x.store(to);
  if constexpr (sizeof(S) == 4) {
    __m128 left = _mm256_castps256_ps128(x.lanes);
    if (count & 4) {
      _mm_storeu_ps(to, left);
      left = _mm256_extractf128_ps(x.lanes, 1);
      to += 4;
    }
    if (count & 2) {
      __builtin_memcpy(to, &left, 2 * sizeof(S));
      left = _mm_movehl_ps(left, left);
      to += 2;
    }
    if (count & 1) _mm_store_ss(to, left);
  } else {
    __m128d left = _mm256_castpd256_pd128(x.lanes);
    if (count & 2) {
      _mm_storeu_pd(to, left);
      left = _mm256_extractf128_pd(x.lanes, 1);
      to += 2;
    }
    if (count & 1) _mm_store_sd(to, left);
  }
}

#else

template <class S>
ALGOPERF_HD Vector<S> load_first(const S* from, std::size_t count) {
  S first[Vector<S>::width] = {};
  for (std::size_t i = 0; i < count; ++i) first[i] = from[i];
  return Vector<S>::load(first);
}
template <class S>
ALGOPERF_HD void store_first(Vector<S> x, S* to, std::size_t count) {
  S all[Vector<S>::width];
  x.store(all);
  for (std::size_t i = 0; i < count; ++i) to[i] = all[i];
}

#endif

}  // namespace ALGOPERF_SIMD
}  // namespace algoperf::detail
