// A block of columns of B, and the tiles of one strip of rows of A by it.
#pragma once

#include <cstddef>

#include "half_tile.hpp"
#include "lanes.hpp"
#include "pack.hpp"
#include "prefetch.hpp"
#include "strips.hpp"
#include "tile.hpp"

namespace algoperf::detail::tiled {
inline namespace ALGOPERF_SIMD {

// A block of B: its first `in_place` columns are read in place, the others from panels. The panel of column j begins at
// panels + j * depth. If `packs`, the next strip also packs the columns that are in place. `bias`, if not null, is
// added to the columns of panels. If `prefetches_c`, each tile of a panel first prefetches the next tile of C.
template <class S>
struct Block {
  std::size_t columns, in_place;
  const S* b;
  std::size_t b_row;
  S* panels;
  bool packs;
  const S* bias;
  bool prefetches_c;
  std::size_t columns_of_whole_panels() const { return in_place / line<S> * line<S>; }  // of those in place
};

// Computes `rows` rows, `vectors` vectors of columns at a time, for the whole panels from column `first` on that are
// read in place. Returns where the columns that are left begin.
template <class S, std::size_t rows, std::size_t vectors>
std::size_t wide_tiles(const TileTerms& part, const S* a, const Block<S>& block, std::size_t first, S* c) {
  constexpr std::size_t wide = vectors * width<S>;
  for (const std::size_t end = block.columns_of_whole_panels(); end - first >= wide; first += wide)
    tile<S, rows, vectors, tile_group, TileFor::plain_terms>(part, wide, a, 0, block.b + first, block.b_row, c + first);
  return first;
}

// Prefetches the tile of C after that of column `first`: the next of the strip, or the first of the next strip, as if
// it had as many rows. After the last strip, the addresses lie behind C; prefetching them has no effect on results.
template <class S>
void prefetch_next_tile(const TileTerms& part, std::size_t rows, const Block<S>& block, std::size_t first, S* c) {
  const std::size_t next = first + line<S>;
  const S* const at = next < block.columns ? c + next : c + rows * part.ldc;
  for (std::size_t i = 0; i < rows; ++i) __builtin_prefetch(at + i * part.ldc, 1);
}

// Computes at most tile_rows rows of a block. If it packs columns, the strip is the first of at least three, and m is
// tile_rows. Without AVX-512, the tiles that read panels also prefetch `next`.
template <class S>
void strip(TileTerms& part, std::size_t m, const S* a, Block<S>& block, NextRows<S>& next, S* c) {
  // The few sums of few rows by two vectors would wait for each other, and longer stretches of B are read faster. The
  // sums fit in the registers.
  constexpr std::size_t of_one_row = many_registers ? 16 : 8, of_two_rows = of_one_row / 2;
  std::size_t j = 0;
  if constexpr (many_registers)
    if (block.packs)
      for (; j < block.in_place; j += line<S>)
        tile<S, tile_rows, 2, tile_group, TileFor::packing_terms>(part, line<S>, a, 0, block.b + j, block.b_row, c + j,
                                                                  block.panels + j * part.depth);
  if (m == 1) j = wide_tiles<S, 1, of_one_row>(part, a, block, j, c);
  if (m == 2) j = wide_tiles<S, 2, of_two_rows>(part, a, block, j, c);
  if constexpr (many_registers) {
    if (m == 1) j = wide_tiles<S, 1, 8>(part, a, block, j, c);
    if (m == 3) j = wide_tiles<S, 3, 4>(part, a, block, j, c);
    if (m == 4) j = wide_tiles<S, 4, 4>(part, a, block, j, c);
    if (m == 5) j = wide_tiles<S, 5, 4>(part, a, block, j, c);
    if (m == 6) j = wide_tiles<S, 6, 4>(part, a, block, j, c);
    if (m == 7) j = wide_tiles<S, 7, 2>(part, a, block, j, c);
  } else {
    if (m == 3) j = wide_tiles<S, 3, 3>(part, a, block, j, c);
    if (m == 4) j = wide_tiles<S, 4, 3>(part, a, block, j, c);
    if (block.columns_of_whole_panels() - j == width<S>) {  // after tiles of three vectors, one may be left
      panel_tiles<S, TileFor::plain_terms>(part, m, width<S>, a, 0, block.b + j, block.b_row, c + j);
      j += width<S>;
    }
  }
  if constexpr (many_registers) {
    if (part.a_is_far)
      for (; j < block.in_place; j += line<S>)
        tiles<S, 2, tile_group, tile_rows, TileFor::far_terms>(part, m, line<S>, a, 0, block.b + j, block.b_row, c + j);
  } else if (part.a_is_far && m >= tile_rows - 1) {  // fewer rows are rare
    const auto far = m == tile_rows ? tile<S, tile_rows, 2, tile_group, TileFor::far_terms>
                                    : tile<S, tile_rows - 1, 2, tile_group, TileFor::far_terms>;
    for (; block.in_place - j >= line<S>; j += line<S>)
      far(part, line<S>, a, 0, block.b + j, block.b_row, c + j, nullptr);
  }
  std::size_t columns = line<S>;
  for (; j < block.in_place; j += columns) {
    if (block.in_place - j < columns) columns = block.in_place - j;
    panel_tiles<S, TileFor::plain_terms>(part, m, columns, a, 0, block.b + j, block.b_row, c + j);
  }
  for (; j < block.columns; j += columns) {
    if (block.columns - j < columns) columns = block.columns - j;
    if (block.bias != nullptr) part.bias = block.bias + j;
    if constexpr (!many_registers) {
      next.prefetch();
      if (block.prefetches_c) prefetch_next_tile(part, m, block, j, c);
    }
    product_panel(part, m, columns, a, block.panels + j * part.depth, c + j);
  }
  if (block.packs) block.in_place = 0;
  block.packs = false;
}

}  // namespace ALGOPERF_SIMD
}  // namespace algoperf::detail::tiled
