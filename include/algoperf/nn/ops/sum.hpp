#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "../../core/map_kernels.hpp"
#include "check_alike.hpp"

namespace algoperf {

// y = a + b. Both must have the same shape and axis. The gradients of both are dy, which the planner shares without a
// copy. Cost: 1 FLOP per element forward, 0 backward. If an input has further uses, as in a residual connection, the
// planner adds their gradients to dy: 1 FLOP per element.
struct Sum {
  static constexpr const char* name = "sum";

  template <class Net>
  constexpr Value output(const Net& net, OpName own, const std::array<Value, 2>& x) const {
    detail::check_alike(net, own, x);
    return x[0];
  }
  constexpr OpTraits traits(const std::array<Value, 2>&) const {
    OpTraits traits;
    traits.decodes = true;
    traits.reads_inputs = 0;
    traits.in_place = 1;
    traits.passes_gradient = true;
    return traits;
  }
  template <class Net, class Tally>
  constexpr void count_forward(const Net& net, const std::array<Value, 2>& x, Tally& tally) const {
    const std::uint64_t n = net.rows(x[0]) * x[0].shape.size();
    tally.operation({"sum", n, 2 * n, n});
  }
  template <class Call>
  void forward(const Call& call) const {
    call.pass.backend.map(Add{}, call.rows(0) * call.in_shape(0).size(), call.out(), call.in(0), call.in(1));
  }
  template <class Call>
  void backward(const Call& call) const {  // runs only if gradients are not shared
    for (std::size_t k = 0; k < 2; ++k)
      if (call.d_in(k) != nullptr)
        call.pass.backend.copy(call.rows(0) * call.in_shape(0).size(), call.d_out(), call.d_in(k));
  }
};

}  // namespace algoperf
