#pragma once

#include <cstddef>

#include "../../core/tuple.hpp"
#include "vector.hpp"

namespace algoperf::detail {
inline namespace ALGOPERF_SIMD {

inline constexpr std::size_t column_sums_block = 64;  // rows

// Adds rows [0, rows) of `vectors` vectors of columns.
template <std::size_t vectors, class S>
ALGOPERF_INLINE void add_rows_of(std::size_t rows, std::size_t stride, const S* x, S* out) {
  using V = Vector<S>;
  V part[vectors];
  for_each_index<vectors>([&](auto k) ALGOPERF_INLINE_LAMBDA { part[k] = V(S(0)); });
  for (std::size_t r = 0; r < rows; ++r, x += stride)
    for_each_index<vectors>([&](auto k) ALGOPERF_INLINE_LAMBDA { part[k] += V::load(x + k * V::width); });
  for_each_index<vectors>(
      [&](auto k) ALGOPERF_INLINE_LAMBDA { (V::load(out + k * V::width) + part[k]).store(out + k * V::width); });
}

// out[c] = sum over r of x[r][c] for c in [0, cols), where rows of x are `stride` elements apart. Each block of rows
// is summed in S, and the blocks are added in order. Four vectors of columns at a time hide the latency of an
// addition, and are at least a line of the cache.
template <class S>
ALGOPERF_ONE_COPY void column_sums(std::size_t rows, std::size_t cols, std::size_t stride, const S* x, S* out) {
  constexpr std::size_t width = Vector<S>::width;
  for (std::size_t c = 0; c < cols; ++c) out[c] = 0;
  for (std::size_t begin = 0; begin < rows; begin += column_sums_block, x += column_sums_block * stride) {
    const std::size_t some = rows - begin < column_sums_block ? rows - begin : column_sums_block;
    std::size_t c = 0;
    for (; c + 4 * width <= cols; c += 4 * width) add_rows_of<4>(some, stride, x + c, out + c);
    for (; c + width <= cols; c += width) add_rows_of<1>(some, stride, x + c, out + c);
    for (; c < cols; ++c) {
      S part = 0;
      for (std::size_t r = 0; r < some; ++r) part += x[r * stride + c];
      out[c] += part;
    }
  }
}

}  // namespace ALGOPERF_SIMD
}  // namespace algoperf::detail
