#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "../../core/math.hpp"
#include "add_table_rows.hpp"
#include "check_alike.hpp"

namespace algoperf {

namespace detail {

// Row r of the table has the sines and cosines of the column r % columns, then those of the row r / columns.
template <class S>
struct GridTable {
  std::size_t columns, width;
  double base;
  S* table;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
    const GridTable a = *this;
    const std::size_t n = width / 4;
    S* const to = table + r * width;
    team.each(n, [=](std::size_t k) {
      const double share = n == 1 ? 0 : static_cast<double>(k) / static_cast<double>(n - 1);
      const double frequency = math::exp(-share * math::log(a.base));
      const double x = static_cast<double>(r % a.columns) * frequency,
                   y = static_cast<double>(r / a.columns) * frequency;
      to[k] = static_cast<S>(math::sin(x));
      to[n + k] = static_cast<S>(math::cos(x));
      to[2 * n + k] = static_cast<S>(math::sin(y));
      to[3 * n + k] = static_cast<S>(math::cos(y));
    });
  }
};

}  // namespace detail

// Fixed positions of the cells of a grid, such as the patches of an image: adds to row r of an example, which lies in
// column j = r % columns and row i = r / columns of the grid,
//   [sin(j f), cos(j f), sin(i f), cos(i f)],   f_k = base^(-k / (n - 1)) for k in [0, n), n = width / 4.
// Shapes: in {width} on an axis with a fixed number of rows, out the same; the width is a multiple of 4.
// Source: the Vision Transformers of Beyer et al. 2022, arXiv:2205.01580, and of AlgoPerf.
// Cost: 1 FLOP per element forward, 0 backward. Computes the table in each pass, in memory for an element of the
// parameters' type per element of the input.
struct GridPositions {
  std::size_t columns = 1;
  double base = 10000;
  static constexpr const char* name = "grid_positions";

  template <class Net>
  constexpr Value output(const Net& net, OpName own, const std::array<Value, 1>& x) const {
    detail::check_activations(net, own, x[0]);
    net.check(x[0].axis != examples_axis && !net.is_ragged(x[0]), own,
              "expected a fixed number of several rows per example, got shape ", x[0].shape, " on the axis '",
              net.axis_name(x[0]), "'");
    net.check(x[0].shape.size() % 4 == 0, own, "the width is ", x[0].shape.size(), ", expected a multiple of 4");
    net.check(columns > 0 && net.rows_per_example(x[0]) % columns == 0, own, "columns is ", columns,
              ", expected a divisor of the number of rows, ", net.rows_per_example(x[0]));
    net.check(base > 0, own, "base is not positive");
    return x[0];
  }
  constexpr OpTraits traits(const std::array<Value, 1>& x) const {
    OpTraits traits;
    traits.reads_inputs = 0;
    traits.in_place = 0;
    traits.last_input_scratch = x[0].shape.size();
    return traits;
  }
  template <class Net, class Tally>
  constexpr void count_forward(const Net& net, const std::array<Value, 1>& x, Tally& tally) const {
    const std::uint64_t n = net.rows(x[0]) * x[0].shape.size();
    tally.operation({"positions", n, n + net.rows_per_example(x[0]) * x[0].shape.size(), n});
  }
  template <class Net, class Tally>
  constexpr void count_backward(const Net&, const std::array<Value, 1>&, Tally&) const {}

  template <class Call>
  void forward(const Call& call) const {
    using T = typename Call::Scalar;
    const std::size_t width = call.in_shape(0).size();
    call.pass.backend.for_each_row(call.axis_of(0).longest, 64 * width,
                                   detail::GridTable<T>{columns, width, base, call.last_input_scratch});
    detail::add_table_rows(call, call.last_input_scratch);
  }
  template <class Call>
  void backward(const Call& call) const {
    detail::pass_gradient(call);
  }
};

}  // namespace algoperf
