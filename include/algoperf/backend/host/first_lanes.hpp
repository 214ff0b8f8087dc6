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
template <class S>
ALGOPERF_INLINE void store_first(Vector<S> x, S* to, std::size_t count) {
  if constexpr (sizeof(S) == 4)
    _mm256_maskstore_ps(to, first_lanes<S>(count), x.lanes);
  else
    _mm256_maskstore_pd(to, first_lanes<S>(count), x.lanes);
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
