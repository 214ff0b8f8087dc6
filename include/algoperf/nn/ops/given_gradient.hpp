#pragma once

#include <array>

#include "check_alike.hpp"

namespace algoperf {

// A loss whose gradient is given: the gradient of input 0 is input 1, which has the same shape and axis. It
// replaces the loss in tests of a backward pass and in cost counts. Its losses are 0. It counts no operations.
struct GivenGradient {
  static constexpr const char* name = "given_gradient";
  static constexpr bool is_loss = true;

  template <class Net>
  constexpr Value output(const Net& net, OpName own, const std::array<Value, 2>& x) const {
    detail::check_alike(net, own, x);
    return {no_index, x[0].axis, Shape{1}, ElementType::parameter};
  }
  template <class Net, class Tally>
  constexpr void count_forward(const Net&, const std::array<Value, 2>&, Tally&) const {}

  template <class Call>
  void forward(const Call& call) const {
    using Scalar = typename Call::Scalar;
    call.pass.backend.fill(call.rows(0), call.losses(), Scalar(0));
    if (call.d_in(0) != nullptr)
      call.pass.backend.copy(call.rows(0) * call.in_shape(0).size(), call.in(1), call.d_in(0));
  }
};

// `model` with a GivenGradient of its output, the field "d_outputs". The output stays readable.
template <class ModelFunction>
struct WithGivenGradient {
  const ModelFunction& model;

  template <class Net>
  constexpr Value operator()(Net& net) const {
    const Value outputs = model(net);
    net.keep(outputs);
    return net(GivenGradient{}, outputs, net.field("d_outputs", outputs.shape, outputs.axis));
  }
};

}  // namespace algoperf
