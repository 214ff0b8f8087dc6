#pragma once

#include "../scale.hpp"

namespace algoperf {

// Scale by the learning rate and turn downhill: u' = -lr u. The one learning-rate stage of a chain.
// Cost: no state, no pass of its own.
struct Descend {
  static constexpr bool applies_learning_rate = true;

  template <class S>
  Scale<S> at(Step step) const {
    return {static_cast<S>(-step.learning_rate)};
  }
};

}  // namespace algoperf
