// Products whose columns fit in one vector.
#pragma once

#include <cstddef>

#include "lanes.hpp"
#include "pack.hpp"
#include "strips.hpp"
#include "tile.hpp"

namespace algoperf::detail::tiled {
inline namespace ALGOPERF_SIMD {

// C (m x n) of k terms, n at most one vector. Where vectors can be cut, B is read in place, because packing its few
// columns would cost as much as multiplying a few rows.
template <class S>
void multiply_narrow(std::size_t m, std::size_t n, std::size_t k, const Strided<const S>& a, const Strided<const S>& b,
                     S* c, std::size_t ldc, bool add) {
  constexpr std::size_t most = most_rows<tile_group, 1>;
  const bool in_place = cuts_rows && is_read_in_place(m, k < part_depth ? k : part_depth, b);
  S* const panel = in_place ? nullptr : Packed<S>::of_this_thread().b;
  for (std::size_t parts = parts_of(k), l = 0; parts > 0; --parts) {
    const std::size_t depth = parts == 1 ? k - l : (k - l) / parts;  // mostly without a division
    const S *from_a = a.data + l * a.column, *from_b = b.data + l * b.row;
    if (!in_place && b.column == 1)
      pack_rows(depth, n, b.from(l, 0), panel);
    else if (!in_place)
      pack_columns(depth, n, b.from(l, 0), panel);
    const TileTerms part{.depth = depth, .a_row = a.row, .a_column = a.column, .ldc = ldc, .add = add || l > 0};
    for (std::size_t i = 0, rows; i < m; i += rows) {
      rows = rows_of_strip(m - i, most);
      const S* const rows_of_a = from_a + i * a.row;
      S* const to = c + i * ldc;
      if constexpr (cuts_rows)
        if (in_place) {
          tiles<S, 1, tile_group, most, TileFor::cut_terms>(part, rows, n, rows_of_a, 0, from_b, b.row, to);
          continue;
        }
      tiles<S, 1, tile_group, most, TileFor::plain_terms>(part, rows, n, rows_of_a, 0, panel, width<S>, to);
    }
    l += depth;
  }
}

}  // namespace ALGOPERF_SIMD
}  // namespace algoperf::detail::tiled
