// The summation order of row_and_column_sums on Host and Thrust; Cuda has its own (cuda/sums.cuh). Column sums add
// blocks of rows in order. Row sums add tiles of columns in order, with the 16 lanes of backend/work.hpp within each
// tile. The order does not depend on the vector width or the number of threads.
#pragma once

#include <cstddef>

#include "../core/tuple.hpp"
#include "host/denormals.hpp"
#include "host/vector.hpp"
#include "work.hpp"

namespace algoperf::detail {
inline namespace ALGOPERF_SIMD {

inline constexpr std::size_t sums_block = 64, sums_tile = 1024;

// Adds the row and column sums of kernel(x) over a tile of at most sums_tile columns with leading dimension `stride`.
template <class S, class Kernel>
ALGOPERF_ONE_COPY void add_tile_sums(const Kernel& kernel, std::size_t rows, std::size_t cols, std::size_t stride,
                                     const S* x, S* of_rows, S* of_columns) {
  using V = Vector<S>;
  constexpr std::size_t vectors = V::width < lanes ? lanes / V::width : 1;
  static_assert(V::width <= lanes);
  const FlushDenormals flush;
  S columns[sums_tile] = {};
  for (std::size_t r = 0; r < rows; ++r, x += stride) {
    V totals[vectors];
    for (V& total : totals) total = V(S(0));
    std::size_t c = 0;
    for (; c + lanes <= cols; c += lanes)
      for_each_index<vectors>([&](auto k) ALGOPERF_INLINE_LAMBDA {
        S* const column = columns + c + k * V::width;
        const V term = kernel(V::load(x + c + k * V::width));
        totals[k] += term;
        (V::load(column) + term).store(column);
      });
    S lane[lanes];
    for (std::size_t k = 0; k < vectors; ++k) totals[k].store(lane + k * V::width);
    for (std::size_t j = 0; c + j < cols; ++j) {
      const S term = kernel(x[c + j]);
      lane[j] += term;
      columns[c + j] += term;
    }
    of_rows[r] += tree_sum(lane);
  }
  for (std::size_t c = 0; c < cols; ++c) of_columns[c] += columns[c];
}

}  // namespace ALGOPERF_SIMD
}  // namespace algoperf::detail
