// TileRows: the rows of the left operand of a product, at equal distances or at the pixels of images, and tiles over
// them.
#pragma once

#include <cstddef>

#include "buffer.hpp"
#include "lanes.hpp"
#include "pack.hpp"
#include "tile.hpp"

namespace algoperf::detail::tiled {
inline namespace ALGOPERF_SIMD {

// Returns the rows of the next tile of `left` rows: avoids a last tile of few rows where two tiles of medium size cover
// the same rows.
constexpr std::size_t next_rows(std::size_t left) {
  constexpr std::size_t medium = tile_rows == 12 ? 8 : 4;
  return left <= tile_rows ? left : left <= 2 * medium ? medium : tile_rows;
}

// The rows of A: of equal distance; or `lines` lines of `columns` rows that are `row` elements apart, lines `line`, and
// images of these lines `image`. Tiles get the places of groups of rows, or of single rows if groups would cross the
// end of a line. `repeated` more places follow that equal the last.
class TileRows {
 public:
  TileRows() = default;
  TileRows(std::size_t images, std::size_t lines, std::size_t columns, std::size_t row, std::size_t line,
           std::size_t image, std::size_t repeated = 0)
      : grouped_(columns % tile_group == 0) {
    const std::size_t group = grouped_ ? tile_group : 1;
    places_ = memory().of_size(images * lines * columns / group + repeated);
    std::size_t* to = places_;
    for (std::size_t i = 0; i < images; ++i)
      for (std::size_t r = 0; r < lines; ++r)
        for (std::size_t q = 0; q < columns; q += group) *to++ = i * image + r * line + q * row;
    for (; repeated > 0; --repeated, ++to) *to = to[-1];
  }

  const std::size_t* places() const { return places_; }  // for TileTerms::places

  // Computes `rows` rows of C and at most a panel of columns. Rows of B are b_row apart.
  template <class S>
  void multiply_panel(const TileTerms& part, std::size_t rows, std::size_t columns, const S* a, const S* b,
                      std::size_t b_row, S* c) const {
    for (std::size_t i = 0, m; i < rows; i += m) {
      m = next_rows(rows - i);
      if (grouped_)
        panel_tiles<S, tile_group>(part, m, columns, a, i, b, b_row, c + i * part.ldc);
      else
        panel_tiles<S, 1>(part, m, columns, a, i, b, b_row, c + i * part.ldc);
    }
  }
  // The same for any number of columns, with panels of B that follow each other in memory, each of `terms` rows.
  template <class S>
  void multiply(TileTerms& part, std::size_t rows, std::size_t columns, std::size_t terms, const S* a, const S* panels,
                S* c) const {
    const S* const bias = static_cast<const S*>(part.bias);
    for (std::size_t j = 0; j < columns; j += line<S>) {
      const std::size_t some = columns - j < line<S> ? columns - j : line<S>;
      if (bias != nullptr) part.bias = bias + j;
      multiply_panel(part, rows, some, a, panels + j * terms, panel_width<S>(some), c + j);
    }
    part.bias = bias;
  }

 private:
  static Buffer<std::size_t>& memory() {
    thread_local Buffer<std::size_t> buffer;
    return buffer;
  }
  bool grouped_ = true;
  std::size_t* places_ = nullptr;
};

}  // namespace ALGOPERF_SIMD
}  // namespace algoperf::detail::tiled
