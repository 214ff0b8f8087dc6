// Products of up to three rows and a large B: memory delivers long stretches of contiguous elements faster than the
// columns of a tile.
#pragma once

#include <cstddef>

#include "lanes.hpp"
#include "pack.hpp"
#include "tile.hpp"

namespace algoperf::detail::tiled {
inline namespace ALGOPERF_SIMD {

// The columns that are computed together.
template <class S>
inline constexpr std::size_t stretch_step = (many_registers ? 4 : 2) * width<S>;
// The most columns of a stretch: 16 KB. The sums of one row stay in the first-level cache.
template <class S>
inline constexpr std::size_t longest_stretch = (std::size_t{1} << 14) / sizeof(S);

// Computes `rows` rows of C and `columns` columns, a multiple of stretch_step. Eight terms at a time are added to
// `sums`, memory for rows * columns elements. C has the same bits as if tiles computed it.
template <class S, std::size_t rows>
[[gnu::noinline]] void stretch(const TileTerms& part, std::size_t columns, const S* a, const S* b, std::size_t b_row,
                               S* sums, S* c) {
  constexpr std::size_t n = width<S>, vectors = stretch_step<S> / n, most = 8;
  for (std::size_t l = 0; l < part.depth; l += most) {
    const std::size_t terms = part.depth - l < most ? part.depth - l : most;
    S x[most][rows];
    for (std::size_t t = 0; t < terms; ++t)
      for (std::size_t i = 0; i < rows; ++i) x[t][i] = a[i * part.a_row + (l + t) * part.a_column];
    const bool last = l + terms == part.depth, add = last && part.add;
    S* const to = last ? c : sums;
    const std::size_t to_row = last ? part.ldc : columns;
    for (std::size_t j = 0; j < columns; j += vectors * n) {
      Lanes<S> sum[rows][vectors] = {};
      if (l > 0)
        ALGOPERF_UNROLL for (std::size_t i = 0; i < rows; ++i) ALGOPERF_UNROLL for (std::size_t v = 0; v < vectors; ++v)
            sum[i][v] = load(sums + i * columns + j + v * n);
      const S* from = b + l * b_row + j;
      for (std::size_t t = 0; t < terms; ++t, from += b_row) {
        Lanes<S> y[vectors];
        ALGOPERF_UNROLL for (std::size_t v = 0; v < vectors; ++v) y[v] = load(from + v * n);
        ALGOPERF_UNROLL for (std::size_t i = 0; i < rows; ++i) {
          const Lanes<S> factor = x[t][i] - Lanes<S>{};
          ALGOPERF_UNROLL for (std::size_t v = 0; v < vectors; ++v) sum[i][v] = add_product<S>(sum[i][v], factor, y[v]);
        }
      }
      ALGOPERF_UNROLL for (std::size_t i = 0; i < rows; ++i) ALGOPERF_UNROLL for (std::size_t v = 0; v < vectors; ++v) {
        S* const at = to + i * to_row + j + v * n;
        store<S>(add ? load(at) + sum[i][v] : sum[i][v], at);
      }
    }
  }
}

// Computes at most three rows and the columns before the last multiple of stretch_step. Returns this multiple.
template <class S>
std::size_t stretches(const TileTerms& part, std::size_t m, std::size_t n, const S* a, const S* b, std::size_t b_row,
                      S* c) {
  const std::size_t end = n / stretch_step<S> * stretch_step<S>;
  S* const sums = Packed<S>::of_this_thread().b;
  for (std::size_t j = 0, columns; j < end; j += columns) {
    columns = end - j < longest_stretch<S> ? end - j : longest_stretch<S>;
    if (m == 1) stretch<S, 1>(part, columns, a, b + j, b_row, sums, c + j);
    if (m == 2) stretch<S, 2>(part, columns, a, b + j, b_row, sums, c + j);
    if (m == 3) stretch<S, 3>(part, columns, a, b + j, b_row, sums, c + j);
  }
  return end;
}

}  // namespace ALGOPERF_SIMD
}  // namespace algoperf::detail::tiled
