// Functors over the examples of a batch, which read and write rows of `width` elements. A sum visits rows in their
// order, so its bits depend on neither threads nor the other examples. Sums of a 16-bit type are computed in float.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "../../core/example_rows.hpp"
#include "../../core/half.hpp"
#include "../../core/map_kernels.hpp"

namespace algoperf::detail {

// y_e = the sum over rows r of example e of x_r, or their mean; 0 for an example without rows.
template <class S>
struct SumOfRows {
  using T = Arithmetic<S>;
  std::size_t width;
  ExampleRows rows;
  bool mean;
  const S* x;
  S* y;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t e) const {
    const std::size_t n = rows.count(e), of_row = width;
    const S* const from = x + rows.begin(e) * width;
    S* const to = y + e * width;
    const T share = mean && n > 0 ? 1 / static_cast<T>(n) : T(1);
    if constexpr (std::is_same_v<S, T>) {
      if (n == 0) return team.each(width, [to](std::size_t c) { to[c] = S(0); });
      team.copy(width, from, to);
      for (std::size_t r = 1; r < n; ++r) team.map(Add{}, width, to, from + r * width);
      if (mean) team.map(Multiply<S>{share}, width, to);
    } else {
      team.each(width, [=](std::size_t c) {
        T sum = 0;
        for (std::size_t r = 0; r < n; ++r) sum += T(from[r * of_row + c]);
        to[c] = S(share * sum);
      });
    }
  }
};

// y_r = x_e for each row r of example e; or x_e divided by the number of rows.
template <class S>
struct SpreadToRows {
  using T = Arithmetic<S>;
  std::size_t width;
  ExampleRows rows;
  bool mean;
  const S* x;
  S* y;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t e) const {
    const std::size_t n = rows.count(e);
    const S* const from = x + e * width;
    const T share = mean && n > 0 ? 1 / static_cast<T>(n) : T(1);
    for (std::size_t r = 0; r < n; ++r) {
      S* const to = y + (rows.begin(e) + r) * width;
      if (mean)
        team.each(width, [=](std::size_t c) { to[c] = S(share * T(from[c])); });
      else
        team.copy(width, from, to);
    }
  }
};

// y_r = x at row index_r of the same example.
template <class S>
struct RowsAt {
  std::size_t width;
  ExampleRows rows, sources;
  const std::int32_t* index;
  const S* x;
  S* y;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t e) const {
    for (std::size_t r = rows.begin(e); r < rows.end(e); ++r)
      team.copy(width, x + (sources.begin(e) + static_cast<std::size_t>(index[r])) * width, y + r * width);
  }
};

// y_i = the sum over the rows r of the same example with index_r = i of x_r. With `adds`, adds the sum to y_i.
template <class S>
struct SumAtRows {
  using T = Arithmetic<S>;
  std::size_t width;
  ExampleRows rows, targets;
  const std::int32_t* index;
  bool adds;
  const S* x;
  S* y;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t e) const {
    const SumAtRows a = *this;
    const std::size_t begin = rows.begin(e), end = rows.end(e), count = targets.count(e);
    S* const to = y + targets.begin(e) * width;
    if constexpr (std::is_same_v<S, T>) {
      if (!adds) team.each(count * width, [to](std::size_t c) { to[c] = S(0); });
      for (std::size_t r = begin; r < end; ++r)
        team.map(Add{}, width, to + static_cast<std::size_t>(index[r]) * width, x + r * width);
    } else {  // reads all indices for each row, because there is no memory for sums of type T
      team.each(count * width, [=](std::size_t k) {
        T sum = a.adds ? T(to[k]) : T(0);
        for (std::size_t r = begin; r < end; ++r)
          if (static_cast<std::size_t>(a.index[r]) == k / a.width) sum += T(a.x[r * a.width + k % a.width]);
        to[k] = S(sum);
      });
    }
  }
};

}  // namespace algoperf::detail
