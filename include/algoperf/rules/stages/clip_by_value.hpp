#pragma once

#include "../../core/math.hpp"
#include "../../core/require.hpp"
#include "../concept.hpp"

namespace algoperf {

// Clips each element of the update: u' = min(max_value, max(-max_value, u)).
// Hyperparameters: max_value > 0.
// Source: torch's clip_grad_value_; optax's clip.
// Cost: no state and no additional pass.
struct ClipByValue {
  double max_value = 1;

  void check() const { require_more_than(0, "ClipByValue", "max_value", max_value); }

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
