// Tiles whose last vector of columns is half as long. Zen 4 computes a vector of 512 bits as two halves, so a product
// of 65 columns needs nine halves per row and term instead of ten.
#pragma once

#include <cstddef>
#include <cstring>

#include "lanes.hpp"
#include "pack.hpp"
#include "tile.hpp"

namespace algoperf::detail::tiled {
inline namespace ALGOPERF_SIMD {

#if defined(__AVX512F__)

// Half a vector, and the whole one that begins with it.
template <class S>
struct Half;
template <>
struct Half<float> {
  using Lanes = __m256;
  static Lanes add_product(Lanes sum, Lanes x, Lanes y) { return _mm256_fmadd_ps(x, y, sum); }
  static Vector<float>::Native whole(Lanes lanes) { return Vector<float>::Native(_mm512_zextps256_ps512(lanes)); }
};
template <>
struct Half<double> {
  using Lanes = __m256d;
  static Lanes add_product(Lanes sum, Lanes x, Lanes y) { return _mm256_fmadd_pd(x, y, sum); }
  static Vector<double>::Native whole(Lanes lanes) { return Vector<double>::Native(_mm512_zextpd256_pd512(lanes)); }
};

// As tile() for plain terms. The tile has `whole` vectors and a half one, of which the last columns may be missing.
template <class S, std::size_t rows, std::size_t whole>
[[gnu::noinline]] void half_tile(const TileTerms& part, std::size_t columns, const S* a, const S* b, std::size_t b_row,
                                 S* c) {
  using Short = typename Half<S>::Lanes;
  constexpr std::size_t n = width<S>, group = tile_group, pointers = (rows + group - 1) / group;
  const std::size_t a_row = part.a_row;
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
        ALGOPERF_UNROLL for (std::size_t v = 0; v < whole; ++v) sum[i][v] = add_product<S>(sum[i][v], x, y[v]);
      }
      last[i] = Half<S>::add_product(last[i], element - Short{}, z);
    }
    ALGOPERF_UNROLL for (std::size_t i = 0; i < pointers; ++i) at[i] += part.a_column;
  }
  ALGOPERF_UNROLL for (std::size_t i = 0; i < rows; ++i) sum[i][whole] = Half<S>::whole(last[i]);
  write_cut<S>(sum, part, part.added_to<S>(c), columns, c);
}

// Computes at most `rows` rows of a panel, with the largest tiles first.
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
    tiles<S, whole + 1, tile_group, 2, TileFor::plain_terms>(part, m, columns, a, 0, b, b_row, c);
}

#endif

// Computes a panel of plain terms. Computes only half of the last vector if that suffices.
template <class S>
void product_panel(const TileTerms& part, std::size_t m, std::size_t columns, const S* a, const S* panel, S* c) {
#if defined(__AVX512F__)
  if (const std::size_t rest = columns % width<S>; rest > 0 && rest <= width<S> / 2) {
    if (columns < width<S>) return half_tiles<S, 0>(part, m, columns, a, panel, width<S>, c);
    return half_tiles<S, 1>(part, m, columns, a, panel, line<S>, c);
  }
#endif
  panel_tiles<S, TileFor::plain_terms>(part, m, columns, a, 0, panel, panel_width<S>(columns), c);
}

}  // namespace ALGOPERF_SIMD
}  // namespace algoperf::detail::tiled
