#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "../../core/math.hpp"
#include "add_table_rows.hpp"
#include "check_alike.hpp"

namespace algoperf {

namespace detail {

// Row r of the table: sin(i f_k) for each k, then cos(i f_k), where i = first + r.
template <class T>
struct SineTable {
  std::size_t width, first;
  double base;
  T* table;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
    const double log_base = math::log(base);
    const std::size_t n = width / 2, i = first + r;
    T* const to = table + r * width;
    team.each(n, [=](std::size_t k) {
      const double share = n == 1 ? 0 : static_cast<double>(k) / static_cast<double>(n - 1);
      const double angle = static_cast<double>(i) * math::exp(-share * log_base);
      to[k] = static_cast<T>(math::sin(angle));
      to[n + k] = static_cast<T>(math::cos(angle));
    });
  }
};

}  // namespace detail

// Fixed positions: adds to row i of each example
//   [sin(i f), cos(i f)],   f_k = base^(-k / (n - 1)) for k in [0, n), n = width / 2.
// Shapes: in {width} on an axis with several rows per example, out the same; the width is even.
// Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.5, with all sines before the cosines and n - 1 instead of n,
//   as in AlgoPerf's conformer and wmt.
// Cost: 1 FLOP per element forward, 0 backward. Each pass also computes a sine or cosine per element of its longest
//   example, in memory for as many elements of the parameters' type as the input has.
struct SinePositions {
  double base = 10000;
  static constexpr const char* name = "sine_positions";

  template <class Net>
  constexpr Value output(const Net& net, OpName own, const std::array<Value, 1>& x) const {
    detail::check_activations(net, own, x[0]);
    net.check(x[0].axis != examples_axis, own, "expected several rows per example, got shape ", x[0].shape,
              " on the axis '", net.axis_name(x[0]), "'");
    net.check(x[0].shape.size() % 2 == 0, own, "the width is ", x[0].shape.size(), ", expected an even number");
    net.check(base > 0, own, "base is not positive");
    return {no_index, x[0].axis, x[0].shape, ElementType::activation};
  }
  constexpr OpTraits traits(const std::array<Value, 1>& x) const {
    OpTraits traits;
    traits.reads_inputs = 0;
    traits.in_place = 0;
    traits.decodes = true;
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
    const std::size_t width = call.in_shape(0).size(), first = detail::place_of_rows(call);
    call.pass.backend.for_each_row(
        detail::places(call), 64 * width,
        detail::SineTable<typename Call::Scalar>{width, first, base, call.last_input_scratch});
    detail::add_table_rows(call, call.last_input_scratch);
  }
  template <class Call>
  void backward(const Call& call) const {
    detail::pass_gradient(call);
  }
};

}  // namespace algoperf
