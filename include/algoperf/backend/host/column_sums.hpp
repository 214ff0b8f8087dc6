#pragma once

#include <cstddef>

#include "../../core/tuple.hpp"
#include "../column_terms.hpp"
#include "../matrix_sums.hpp"
#include "vector.hpp"

namespace algoperf::detail {
inline namespace ALGOPERF_SIMD {

// Adds the terms of `rows` rows in `vectors` vectors of columns. Element (0, c) of the rows has index i.
template <std::size_t vectors, class S, class Terms>
ALGOPERF_INLINE void add_rows_of(const Terms& terms, std::size_t rows, std::size_t cols, std::size_t i, std::size_t c,
                                 S* const (&outs)[Terms::count]) {
  using V = Vector<S>;
  V part[vectors][Terms::count];
  for_each_index<vectors>([&](auto k) ALGOPERF_INLINE_LAMBDA {
    for (V& sum : part[k]) sum = V(S(0));
  });
  for (std::size_t r = 0; r < rows; ++r, i += cols)
    for_each_index<vectors>([&](auto k) ALGOPERF_INLINE_LAMBDA {
      const auto term = terms.template at<V>(i + k * V::width, c + k * V::width);
      for (std::size_t m = 0; m < Terms::count; ++m) part[k][m] += term[m];
    });
  for_each_index<vectors>([&](auto k) ALGOPERF_INLINE_LAMBDA {
    for (std::size_t m = 0; m < Terms::count; ++m) {
      S* const out = outs[m] + c + k * V::width;
      (V::load(out) + part[k][m]).store(out);
    }
  });
}

// outs[m][c] += the sum over r of term m in row r and column c, for c in [begin, end). Each block of rows is summed in
// S, and the blocks are added in order. Several vectors of columns at a time hide the latency of an addition, and are
// at least a line of the cache.
template <class S, class Terms>
ALGOPERF_ONE_COPY void add_column_sums(const Terms terms, std::size_t rows, std::size_t cols, std::size_t begin,
                                       std::size_t end, S* const (&outs)[Terms::count]) {
  constexpr std::size_t width = Vector<S>::width;
  for (std::size_t first = 0; first < rows; first += sums_block) {
    const std::size_t some = rows - first < sums_block ? rows - first : sums_block;
    const std::size_t row = first * cols;
    std::size_t c = begin;
    for (; c + 4 * width <= end; c += 4 * width) add_rows_of<4, S>(terms, some, cols, row + c, c, outs);
    for (; c + width <= end; c += width) add_rows_of<1, S>(terms, some, cols, row + c, c, outs);
    for (; c < end; ++c) {
      S part[Terms::count] = {};
      for (std::size_t r = 0; r < some; ++r) {
        const auto term = terms.template at<S>(row + r * cols + c, c);
        for (std::size_t m = 0; m < Terms::count; ++m) part[m] += term[m];
      }
      for (std::size_t m = 0; m < Terms::count; ++m) outs[m][c] += part[m];
    }
  }
}

}  // namespace ALGOPERF_SIMD
}  // namespace algoperf::detail
