#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "check_alike.hpp"
#include "example_row_kernels.hpp"

namespace algoperf {

// Repeats the row of an example for each of its rows on another axis.
// Shapes: in {width} on the axis of examples, out {width} on `axis`.
//   net(RepeatRows{words.axis}, context)    // as often as `words` has rows
// torch: repeat_interleave. Cost: 0 FLOPs forward; backward, (n - 1) width for an example of n rows.
struct RepeatRows {
  GraphIndex axis = no_index;
  static constexpr const char* name = "repeat_rows";

  template <class Net>
  constexpr Value output(const Net& net, OpName own, const std::array<Value, 1>& x) const {
    detail::check_activations(net, own, x[0]);
    net.check(axis != no_index, own, "no axis is given");
    net.check(x[0].axis == examples_axis, own, "expected one row per example, got shape ", x[0].shape, " on the axis '",
              net.axis_name(x[0]), "'");
    return {no_index, axis, x[0].shape, ElementType::activation};
  }
  constexpr OpTraits traits(const std::array<Value, 1>&) const {
    OpTraits traits;
    traits.decodes = true;
    traits.reads_inputs = 0;
    return traits;
  }
  template <class Net, class Tally>
  constexpr void count_forward(const Net& net, const std::array<Value, 1>& x, Tally& tally) const {
    const std::uint64_t n = net.rows(x[0]) * x[0].shape.size();
    tally.operation({"repeat", 0, n, n * net.graph().axes[axis].rows});
  }
  template <class Net, class Tally>
  constexpr void count_backward(const Net& net, const std::array<Value, 1>& x, Tally& tally) const {
    const std::uint64_t n = net.rows(x[0]) * x[0].shape.size(), all = n * net.graph().axes[axis].rows;
    if (net.needs_gradient(x[0])) tally.operation({"repeat, gradient", all > n ? all - n : 0, all, n});
  }

  template <class Call>
  void forward(const Call& call) const {
    const AxisRows& rows = call.axes[axis];
    const std::size_t width = call.in_shape(0).size();
    call.pass.backend.for_each_row(
        call.examples, rows.longest * width,
        detail::SpreadToRows<typename Call::S>{width, rows.rows, false, call.in(0), call.out()});
  }
  template <class Call>
  void backward(const Call& call) const {
    if (call.d_in(0) == nullptr) return;
    const AxisRows& rows = call.axes[axis];
    const std::size_t width = call.in_shape(0).size();
    call.pass.backend.for_each_row(
        call.examples, rows.longest * width,
        detail::SumOfRows<typename Call::S>{width, rows.rows, false, call.d_out(), call.d_in(0)});
  }
};

}  // namespace algoperf
