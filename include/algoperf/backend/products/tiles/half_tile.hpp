// Tiles whose last vector of columns is half as long. Zen 4 computes a vector of 512 bits as two halves, so a product
// of 65 columns needs nine halves per row and term instead of ten.
#pragma once

#include <cstddef>

#include "lanes.hpp"
#include "tile.hpp"

namespace algoperf::detail::tiled {
inline namespace ALGOPERF_SIMD {

// Whether half of the last vector suffices for this many columns of a panel.
template <class S>
constexpr bool half_suffices(std::size_t columns) {
  const std::size_t rest = columns % width<S>;
  return native_vector_bytes == 64 && rest > 0 && rest <= width<S> / 2;
}

#if defined(__AVX512F__)

// Half a vector, and the whole one that begins with it.
template <class S>
struct Half;
template <>
struct Half<float> {
  using Lanes = __m256;
  static Vector<float>::Native whole(Lanes lanes) { return Vector<float>::Native(_mm512_zextps256_ps512(lanes)); }
};
template <>
struct Half<double> {
  using Lanes = __m256d;
  static Vector<double>::Native whole(Lanes lanes) { return Vector<double>::Native(_mm512_zextpd256_pd512(lanes)); }
};

// As tile() for plain terms, with `whole` vectors and a half one, of which the last columns may be missing.
template <class S, std::size_t rows, std::size_t whole>
[[gnu::noinline]] void half_tile(const TileTerms& part, std::size_t columns, const S* a, const S* b, std::size_t b_row,
                                 S* c) {
  using Short = typename Half<S>::Lanes;
  constexpr std::size_t n = width<S>, group = tile_group, pointers = (rows + group - 1) / group;
  const std::size_t a_row = part.a_row, ldc = part.ldc;
  Lanes<S> sum[rows][whole + 1] = {};
  Short last[rows] = {};
  const S* at[pointers];
  ALGOPERF_UNROLL for (std::size_t i = 0; i < pointers; ++i) at[i] = a + i * group * a_row;
  asm("" : "+r"(c));  // as in tile()
  for (std::size_t l = part.depth; l > 0; --l, b += b_row) {
    Lanes<S> y[whole + 1];
    Short z;
    ALGOPERF_UNROLL for (std::size_t v = 0; v < whole; ++v) y[v] = load(b + v * n);
    std::memcpy(&z, b + whole * n, sizeof z);
    ALGOPERF_UNROLL for (std::size_t i = 0; i < rows; ++i) {
      const S element = at[i / group][i % group * a_row];
      if constexpr (whole > 0) {
        const Lanes<S> x = element - Lanes<S>{};
        ALGOPERF_UNROLL for (std::size_t v = 0; v < whole; ++v) sum[i][v] = sum[i][v] + x * y[v];
      }
      last[i] = last[i] + (element - Short{}) * z;
    }
    ALGOPERF_UNROLL for (std::size_t i = 0; i < pointers; ++i) at[i] += part.a_column;
  }
  const std::size_t tail = columns - whole * n;
  ALGOPERF_UNROLL for (std::size_t i = 0; i < rows; ++i) sum[i][whole] = Half<S>::whole(last[i]);
  if (part.add) ALGOPERF_UNROLL for (std::size_t i = 0; i < rows; ++i) {
      const S* const from = c + i * ldc;
      ALGOPERF_UNROLL for (std::size_t v = 0; v < whole; ++v) sum[i][v] = load(from + v * n) + sum[i][v];
      sum[i][whole] = load_first(from + whole * n, tail) + sum[i][whole];
    }
  ALGOPERF_UNROLL for (std::size_t i = 0; i < rows; ++i) {
    S* const to = c + i * ldc;
    ALGOPERF_UNROLL for (std::size_t v = 0; v < whole; ++v) store<S>(sum[i][v], to + v * n);
    store_first<S>(sum[i][whole], to + whole * n, tail);
  }
}

// Computes at most `rows` rows of a panel for which half_suffices().
template <class S, std::size_t whole, std::size_t rows = tile_rows>
void half_tiles(const TileTerms& part, std::size_t m, std::size_t columns, const S* a, const S* b, std::size_t b_row,
                S* c) {
  if (m >= rows) {
    half_tile<S, rows, whole>(part, columns, a, b, b_row, c);
    if ((m -= rows) == 0) return;
    a += rows * part.a_row;
    c += rows * part.ldc;
  }
  if constexpr (rows > 4)
    half_tiles<S, whole, rows == 12 ? 10 : rows == 10 ? 8 : 4>(part, m, columns, a, b, b_row, c);
  else  // a few rows wait for their sums, not for the vectors
    tiles<S, whole + 1, tile_group, 2>(part, m, columns, a, 0, b, b_row, c);
}

#endif

}  // namespace ALGOPERF_SIMD
}  // namespace algoperf::detail::tiled
