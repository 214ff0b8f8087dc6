#pragma once

#include "../../core/math.hpp"
#include "../../core/require.hpp"
#include "../concept.hpp"

namespace algoperf {

// Clip each element: u' = min(max_value, max(-max_value, u)). max_value > 0. torch's clip_grad_value_, optax's clip.
// Cost: no state, no pass of its own.
struct ClipByValue {
  double max_value = 1;

  void check() const { require(max_value > 0, "ClipByValue: max_value is ", max_value, ", expected more than 0"); }

  template <class S>
  struct Kernel {
    static constexpr std::size_t slots = 0;
    S most = 0;
    template <class T>
    ALGOPERF_HD T operator()(T u, T, Slots<T, 0>&) const {
      return math::min(T(most), math::max(T(-most), u));
    }
  };
  template <class S>
  ALGOPERF_HD Kernel<S> at(Step) const {
    return {static_cast<S>(max_value)};
  }
};

}  // namespace algoperf
