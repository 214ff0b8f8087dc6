// Vectors of the products in gemm_tiles.hpp: loads and stores of whole vectors and of parts, and transposition.
#pragma once

#include <cstddef>
#include <cstring>
#include <utility>

#include "../../../core/config.hpp"
#include "../../host/first_lanes.hpp"
#include "../../host/vector.hpp"

// Precedes a loop over the terms of a product. Without AVX-512, its body is repeated four times: a term of six rows by
// two vectors has twelve multiply-adds, eight loads, and six instructions that move pointers and count. A core whose
// other hardware thread is busy probably decodes them too slowly (measured on Zen 3). If the rows of A are contiguous,
// g++ -O3 moves A's pointers once for four terms.
#if defined(__AVX512F__)
#define ALGOPERF_UNROLL_TERMS
#else
#define ALGOPERF_UNROLL_TERMS _Pragma("GCC unroll 4")
#endif

namespace algoperf::detail::tiled {
inline namespace ALGOPERF_SIMD {

template <class S>
inline constexpr std::size_t width = Vector<S>::width;
template <class S>
using Lanes = typename Vector<S>::Native;

template <class S>
[[gnu::always_inline]] inline Lanes<S> load(const S* from) {
  Lanes<S> lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}
template <class S>
[[gnu::always_inline]] inline void store(Lanes<S> lanes, S* to) {
  std::memcpy(to, &lanes, sizeof lanes);
}

template <class S>
[[gnu::always_inline]] inline Lanes<S> load_first(const S* from, std::size_t count) {
  return detail::load_first(from, count).lanes;
}
template <class S>
[[gnu::always_inline]] inline void store_first(Lanes<S> lanes, S* to, std::size_t count) {
  detail::store_first(Vector<S>(lanes), to, count);
}

// Loads or stores a whole vector, or its first `count` lanes if `cut`.
template <bool cut, class S>
[[gnu::always_inline]] inline Lanes<S> load_lanes(const S* from, [[maybe_unused]] std::size_t count) {
  if constexpr (cut)
    return load_first(from, count);
  else
    return load(from);
}
template <bool cut, class S>
[[gnu::always_inline]] inline void store_lanes(Lanes<S> lanes, S* to, [[maybe_unused]] std::size_t count) {
  if constexpr (cut)
    store_first<S>(lanes, to, count);
  else
    store<S>(lanes, to);
}

// Returns sum + x y, rounded once if the file is compiled for FMA. For AMD's Zen 2 and later (-mtune), g++ rounds the
// product of `sum + x * y` too if it is the only sum of a loop: an element's bits would then depend on its tile.
template <class S>
[[gnu::always_inline]] inline Lanes<S> add_product(Lanes<S> sum, Lanes<S> x, Lanes<S> y) {
#if defined(__AVX512F__)
  if constexpr (sizeof(S) == 4)
    return Lanes<S>(_mm512_fmadd_ps(x, y, sum));
  else
    return Lanes<S>(_mm512_fmadd_pd(x, y, sum));
#elif defined(__AVX__) && defined(__FMA__)
  if constexpr (sizeof(S) == 4)
    return Lanes<S>(_mm256_fmadd_ps(x, y, sum));
  else
    return Lanes<S>(_mm256_fmadd_pd(x, y, sum));
#else
  return sum + x * y;
#endif
}

// Keeps a vector that several instructions use in a register. Otherwise g++ loads it again for each of them.
template <class S>
[[gnu::always_inline]] inline void keep_in_register([[maybe_unused]] Lanes<S>& lanes) {
#if defined(__AVX512F__)
  asm("" : "+v"(lanes));
#elif defined(__SSE2__)
  asm("" : "+x"(lanes));
#endif
}

// Transposes a square block of n vectors of n lanes. For each bit of a lane index, it interleaves the lanes of the
// first half of the vectors with those of the second half.
template <class S, std::size_t... i>
[[gnu::always_inline]] inline void transpose(Lanes<S>* v, std::index_sequence<i...>) {
  constexpr std::size_t n = width<S>;
  ALGOPERF_UNROLL for (std::size_t bit = 1; bit < n; bit *= 2) {
    Lanes<S> next[n];
    ALGOPERF_UNROLL for (std::size_t k = 0; k < n / 2; ++k) {
      next[2 * k] = __builtin_shufflevector(v[k], v[k + n / 2], (i % 2 * n + i / 2)...);
      next[2 * k + 1] = __builtin_shufflevector(v[k], v[k + n / 2], (i % 2 * n + n / 2 + i / 2)...);
    }
    ALGOPERF_UNROLL for (std::size_t k = 0; k < n; ++k) v[k] = next[k];
  }
}
template <class S>
[[gnu::always_inline]] inline void transpose(Lanes<S>* v) {
  transpose<S>(v, std::make_index_sequence<width<S>>{});
}

// Sums of neighbouring lanes: those of x in the first half, those of y in the second.
template <class S, std::size_t... i>
[[gnu::always_inline]] inline Lanes<S> pair_sums(Lanes<S> x, Lanes<S> y, std::index_sequence<i...>) {
  return __builtin_shufflevector(x, y, (2 * i)...) + __builtin_shufflevector(x, y, (2 * i + 1)...);
}
// Lane j of the result is the sum over the lanes of v[j], added in pairs. `count` is a power of two and at most the
// width; the other lanes of the result repeat these. Overwrites v.
template <class S, std::size_t count, std::size_t lanes = width<S>>
[[gnu::always_inline]] inline Lanes<S> lane_sums(Lanes<S>* v) {
  if constexpr (lanes > 1) {
    constexpr std::size_t half = (count + 1) / 2;
    ALGOPERF_UNROLL for (std::size_t k = 0; k < half; ++k) v[k] =
        pair_sums<S>(v[2 * k], v[count > 1 ? 2 * k + 1 : 0], std::make_index_sequence<width<S>>{});
    return lane_sums<S, half, lanes / 2>(v);
  }
  return v[0];
}

// A matrix whose element (i, j) is data[i * row + j * column].
template <class S>
struct Strided {
  S* data;
  std::size_t row, column;
  Strided from(std::size_t i, std::size_t j) const { return {data + i * row + j * column, row, column}; }
  Strided transposed() const { return {data, column, row}; }
};

}  // namespace ALGOPERF_SIMD
}  // namespace algoperf::detail::tiled
