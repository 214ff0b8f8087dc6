// The functors that Thrust's algorithms call for each element, row or column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "../../core/config.hpp"
#include "../../core/slots.hpp"
#include "../../core/tuple.hpp"
#include "../matrix_sums.hpp"
#include "../serial_team.hpp"

namespace algoperf::detail {

// Computes element i of C, which has n columns, as a dot product of k terms in order. Element (row, j) of A is at row
// * a_row + j * a_step; element (j, col) of B is at col * b_col + j * b_step.
template <class S>
struct ThrustGemm {
  std::size_t n, k, a_row, a_step, b_col, b_step;
  const S* a;
  const S* b;
  S* c;
  bool accumulate;

  ALGOPERF_HD void operator()(std::size_t i) const {
    const S* const left = a + i / n * a_row;
    const S* const right = b + i % n * b_col;
    S total = 0;
    for (std::size_t j = 0; j < k; ++j) total += left[j * a_step] * right[j * b_step];
    c[i] = accumulate ? c[i] + total : total;
  }
};

template <class Kernel, class S, class... In>
struct ThrustMap {
  Kernel kernel;
  S* x;
  Tuple<const In*...> in;

  ALGOPERF_HD void operator()(std::size_t i) const { at(i, std::index_sequence_for<In...>{}); }

 private:
  template <std::size_t... J>
  ALGOPERF_HD void at(std::size_t i, std::index_sequence<J...>) const {
    x[i] = kernel(x[i], get<J>(in)[i]...);
  }
};

template <class Kernel, class S>
struct ThrustMapRows {
  Kernel kernel;
  std::size_t cols;
  S* x;
  const S* row;
  ALGOPERF_HD void operator()(std::size_t i) const { x[i] = kernel(x[i], row[i % cols]); }
};

// The sums of terms (backend/column_terms.hpp) over column c, in the host's order: blocks of rows, added in order.
template <class Terms, class S>
struct ThrustColumnSums {
  Terms terms;
  std::size_t rows, cols;
  bool accumulate;
  S* outs[Terms::count];

  ALGOPERF_HD void operator()(std::size_t c) const {
    S totals[Terms::count] = {};
    if (accumulate)
      for (std::size_t m = 0; m < Terms::count; ++m) totals[m] = outs[m][c];
    for (std::size_t begin = 0; begin < rows; begin += sums_block) {
      S parts[Terms::count] = {};
      for (std::size_t r = begin; r < rows && r < begin + sums_block; ++r) {
        const auto term = terms.template at<S>(r * cols + c, c);
        for (std::size_t m = 0; m < Terms::count; ++m) parts[m] += term[m];
      }
      for (std::size_t m = 0; m < Terms::count; ++m) totals[m] += parts[m];
    }
    for (std::size_t m = 0; m < Terms::count; ++m) outs[m][c] = totals[m];
  }
};

// The sum of kernel(x) over row r, in the host's order: tiles of columns, added in order.
template <class Kernel, class S>
struct ThrustRowSum {
  Kernel kernel;
  std::size_t cols;
  const S* x;
  S* out;

  ALGOPERF_HD void operator()(std::size_t r) const {
    S total = 0;
    for (std::size_t begin = 0; begin < cols; begin += sums_tile) {
      const S* const from = x + r * cols + begin;
      S lane[lanes] = {};
      for (std::size_t j = 0; j < sums_tile && begin + j < cols; ++j) lane[j % lanes] += kernel(from[j]);
      total += tree_sum(lane);
    }
    out[r] = total;
  }
};

// Adds column c of each row of x to the row of `out` that its key selects, in order.
template <class S>
struct ThrustAddRows {
  std::size_t count, cols;
  const std::int32_t* keys;
  const S* x;
  S* out;

  ALGOPERF_HD void operator()(std::size_t c) const {
    for (std::size_t i = 0; i < count; ++i) out[static_cast<std::size_t>(keys[i]) * cols + c] += x[i * cols + c];
  }
};

template <class F>
struct ThrustRow {
  F f;
  ALGOPERF_HD void operator()(std::size_t r) const { f(SerialTeam{}, r); }
};

template <class S>
struct ThrustTerm {
  const S* x;
  ALGOPERF_HD Sums<double, 1> operator()(std::size_t i) const { return {{static_cast<double>(x[i])}}; }
};

template <class S>
struct ThrustProduct {
  const S* x;
  const S* y;
  ALGOPERF_HD Sums<double, 1> operator()(std::size_t i) const {
    return {{static_cast<double>(x[i]) * static_cast<double>(y[i])}};
  }
};

}  // namespace algoperf::detail
