#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "../../core/map_kernels.hpp"
#include "check_alike.hpp"

namespace algoperf {

// y = a * b, element by element: a gate. Both must have the same shape and axis. da = dy b, db = dy a.
// Cost: 1 FLOP per element forward, 1 backward per element of each input that needs a gradient.
struct Product {
  static constexpr const char* name = "product";

  template <class Net>
  constexpr Value output(const Net& net, OpName own, const std::array<Value, 2>& x) const {
    detail::check_alike(net, own, x);
    return x[0];
  }
  constexpr OpTraits traits(const std::array<Value, 2>&) const { return {.decodes = true}; }
  template <class Net, class Tally>
  constexpr void count_forward(const Net& net, const std::array<Value, 2>& x, Tally& tally) const {
    const std::uint64_t n = net.rows(x[0]) * x[0].shape.size();
    tally.operation({"product", n, 2 * n, n});
  }

  template <class Call>
  void forward(const Call& call) const {
    call.pass.backend.map(Times{}, call.rows(0) * call.in_shape(0).size(), call.out(), call.in(0), call.in(1));
  }
  template <class Call>
  void backward(const Call& call) const {
    for (std::size_t k = 0; k < 2; ++k)
      if (call.d_in(k) != nullptr)
        call.pass.backend.map(Times{}, call.rows(0) * call.in_shape(0).size(), call.d_in(k), call.d_out(),
                              call.in(1 - k));
  }
};

}  // namespace algoperf
