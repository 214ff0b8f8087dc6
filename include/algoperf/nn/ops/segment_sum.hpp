#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "check_alike.hpp"
#include "check_row_indices.hpp"
#include "example_row_kernels.hpp"

namespace algoperf {

// y_j = the sum of x_r over the rows r of the same example with i_r = j, such as the sum of the edges that end at a
// node.
// Shapes: x {width} and i, a field of rows, on one axis; out {width} on the axis whose rows i holds.
//   const Value received = net(SegmentSum{}, messages, receivers);    // one row per node
// jax.ops.segment_sum, for each example. Sums are in the order of the rows.
// Cost: 1 FLOP per element of x forward, 0 backward. With 16-bit activations, forward reads all indices of an example
// for each of its rows of y.
struct SegmentSum {
  static constexpr const char* name = "segment_sum";

  template <class Net>
  constexpr Value output(const Net& net, OpName own, const std::array<Value, 2>& x) const {
    detail::check_activations(net, own, x[0]);
    detail::check_row_indices(net, own, x[1], no_index);
    net.check(x[0].axis == x[1].axis, own, "the rows are on the axis '", net.axis_name(x[0]), "', their indices on '",
              net.axis_name(x[1]), "', expected the same");
    return {no_index, net.graph().values[x[1].index].indexes_axis, x[0].shape, ElementType::activation};
  }
  constexpr OpTraits traits(const std::array<Value, 2>&) const {
    OpTraits traits;
    traits.reads_inputs = 2;
    return traits;
  }
  template <class Net, class Tally>
  constexpr void count_forward(const Net& net, const std::array<Value, 2>& x, Tally& tally) const {
    const std::uint64_t n = net.rows(x[0]) * x[0].shape.size();
    tally.operation({"segment sum", n, n, out_elements(net, x)});
  }
  template <class Net, class Tally>
  constexpr void count_backward(const Net& net, const std::array<Value, 2>& x, Tally& tally) const {
    if (net.needs_gradient(x[0]))
      tally.operation({"segment sum, gradient", 0, out_elements(net, x), net.rows(x[0]) * x[0].shape.size()});
  }

  template <class Call>
  void forward(const Call& call) const {
    const std::size_t width = call.in_shape(0).size();
    call.pass.backend.for_each_row(
        call.examples, call.axis_of(0).longest * width,
        detail::SumAtRows<typename Call::S>{width, call.axis_of(0).rows, call.axes[call.output().axis].rows,
                                            call.tokens(1), false, call.in(0), call.out()});
  }
  template <class Call>
  void backward(const Call& call) const {
    if (call.d_in(0) == nullptr) return;
    const std::size_t width = call.in_shape(0).size();
    call.pass.backend.for_each_row(
        call.examples, call.axis_of(0).longest * width,
        detail::RowsAt<typename Call::S>{width, call.axis_of(0).rows, call.axes[call.output().axis].rows,
                                         call.tokens(1), call.d_out(), call.d_in(0)});
  }

 private:
  template <class Net>
  static constexpr std::uint64_t out_elements(const Net& net, const std::array<Value, 2>& x) {
    const GraphIndex axis = net.graph().values[x[1].index].indexes_axis;
    return net.rows({no_index, axis, x[0].shape}) * x[0].shape.size();
  }
};

}  // namespace algoperf
