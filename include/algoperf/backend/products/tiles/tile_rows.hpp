// TileRows: the rows of the left operand of a product, at equal distances or at the pixels of images, and tiles over
// them.
#pragma once

#include <cstddef>

#include "buffer.hpp"
#include "lanes.hpp"
#include "pack.hpp"
#include "strips.hpp"
#include "tile.hpp"

namespace algoperf::detail::tiled {
inline namespace ALGOPERF_SIMD {

// The rows of A: of equal distance (default constructor); or `columns` rows that are `row` elements apart form a line,
// lines are `line` elements apart, and images of `lines` lines `image` elements. `places` has the offset of each group
// of rows that share a pointer; no group crosses the end of a line. The last offset follows `repeated` more times.
class TileRows {
 public:
  TileRows() = default;
  TileRows(std::size_t images, std::size_t lines, std::size_t columns, std::size_t row, std::size_t line,
           std::size_t image, std::size_t repeated = 0)
      : group_(group_of(columns)) {
    places_ = memory().of_size(images * lines * columns / group_ + repeated);
    std::size_t* to = places_;
    for (std::size_t i = 0; i < images; ++i)
      for (std::size_t r = 0; r < lines; ++r)
        for (std::size_t q = 0; q < columns; q += group_) *to++ = i * image + r * line + q * row;
    for (; repeated > 0; --repeated, ++to) *to = to[-1];
  }
  // Returns how many rows share a pointer: tile_group if it divides `columns`; else three, if it does and vectors have
  // 64 bytes (3 channels, for example); else one.
  static constexpr std::size_t group_of(std::size_t columns) {
    return columns % tile_group == 0 ? tile_group : many_registers && columns % 3 == 0 ? 3 : 1;
  }

  const std::size_t* places() const { return places_; }  // for TileTerms::places

  // Computes `rows` rows of C and at most a panel of columns. Rows of B are b_row apart.
  template <class S>
  void multiply_panel(const TileTerms& part, std::size_t rows, std::size_t columns, const S* a, const S* b,
                      std::size_t b_row, S* c) const {
    if constexpr (many_registers)
      if (group_ == 3) return multiply_groups<3>(part, rows, columns, a, b, b_row, c);
    if (group_ == tile_group)
      multiply_groups<tile_group>(part, rows, columns, a, b, b_row, c);
    else
      multiply_groups<1>(part, rows, columns, a, b, b_row, c);
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
  template <std::size_t group, class S>
  static void multiply_groups(const TileTerms& part, std::size_t rows, std::size_t columns, const S* a, const S* b,
                              std::size_t b_row, S* c) {
    constexpr std::size_t unit = group == 1 ? tile_group : group;
    constexpr std::size_t wide = most_rows<group, 2>, narrow = most_rows<group, 1>;
    const bool one_vector = columns <= width<S>;
    for (std::size_t i = 0, m; i < rows; i += m) {
      m = next_rows(rows - i, unit, one_vector ? narrow : wide);
      if (one_vector)
        tiles<S, 1, group, narrow>(part, m, columns, a, i, b, b_row, c + i * part.ldc);
      else
        tiles<S, 2, group, wide>(part, m, columns, a, i, b, b_row, c + i * part.ldc);
    }
  }
  static Buffer<std::size_t>& memory() {
    thread_local Buffer<std::size_t> buffer;
    return buffer;
  }
  std::size_t group_ = tile_group;
  std::size_t* places_ = nullptr;
};

}  // namespace ALGOPERF_SIMD
}  // namespace algoperf::detail::tiled
