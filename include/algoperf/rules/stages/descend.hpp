#pragma once

#include "../concept.hpp"

namespace algoperf {

// Scale by the learning rate and turn downhill: u' = -lr u. The one learning-rate stage of a chain.
// Cost: no state, no pass of its own.
struct Descend {
  static constexpr bool applies_learning_rate = true;

  template <class S>
  struct Kernel {
    static constexpr std::size_t slots = 0;
    S minus_rate = 0;
    template <class T>
    ALGOPERF_HD T operator()(T u, T, Slots<T, 0>&) const {
      return minus_rate * u;
    }
  };
  template <class S>
  Kernel<S> at(Step step) const {
    return {static_cast<S>(-step.learning_rate)};
  }
};

}  // namespace algoperf
