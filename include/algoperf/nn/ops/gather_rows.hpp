#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "check_alike.hpp"
#include "check_row_indices.hpp"
#include "example_row_kernels.hpp"

namespace algoperf {

// y_r = x at row i_r of the same example, such as the nodes at which the edges of a graph begin.
// Shapes: x {width} on any axis; i, a field of rows of that axis; out {width} on the axis of i.
//   const GraphIndex nodes = net.ragged_axis("nodes"), edges = net.ragged_axis("edges");
//   const Value senders = net.row_indices("senders", edges, nodes);
//   const Value sent = net(GatherRows{}, x, senders);
// torch: x[i]. Cost: 0 FLOPs forward, 1 per output element backward. The gradient is summed in the order of the rows.
// With 16-bit activations, backward reads all indices of an example for each of its rows of x.
struct GatherRows {
  static constexpr const char* name = "gather_rows";

  template <class Net>
  constexpr Value output(const Net& net, OpName own, const std::array<Value, 2>& x) const {
    detail::check_activations(net, own, x[0]);
    detail::check_row_indices(net, own, x[1], x[0].axis);
    return {no_index, x[1].axis, x[0].shape, ElementType::activation};
  }
  constexpr OpTraits traits(const std::array<Value, 2>&) const {
    OpTraits traits;
    traits.reads_inputs = 2;
    traits.adds = true;
    return traits;
  }
  template <class Net, class Tally>
  constexpr void count_forward(const Net& net, const std::array<Value, 2>& x, Tally& tally) const {
    const std::uint64_t n = net.rows(x[1]) * x[0].shape.size();
    tally.operation({"gather rows", 0, n, n});
  }
  template <class Net, class Tally>
  constexpr void count_backward(const Net& net, const std::array<Value, 2>& x, Tally& tally) const {
    const std::uint64_t n = net.rows(x[1]) * x[0].shape.size();
    if (net.needs_gradient(x[0])) tally.operation({"gather rows, gradient", n, n, net.rows(x[0]) * x[0].shape.size()});
  }

  template <class Call>
  void forward(const Call& call) const {
    const std::size_t width = call.in_shape(0).size();
    call.pass.backend.for_each_row(call.examples, call.axis_of(1).longest * width,
                                   detail::RowsAt<typename Call::S>{width, call.axis_of(1).rows, call.axis_of(0).rows,
                                                                    call.tokens(1), call.in(0), call.out()});
  }
  template <class Call>
  void backward(const Call& call) const {
    if (call.d_in(0) == nullptr) return;
    const std::size_t width = call.in_shape(0).size();
    call.pass.backend.for_each_row(
        call.examples, call.axis_of(1).longest * width,
        detail::SumAtRows<typename Call::S>{width, call.axis_of(1).rows, call.axis_of(0).rows, call.tokens(1),
                                            call.adds_to(0), call.d_out(), call.d_in(0)});
  }
};

}  // namespace algoperf
