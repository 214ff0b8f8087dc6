#pragma once

#include "../../core/require.hpp"
#include "../chain/scale.hpp"

namespace algoperf {

// Multiplies the update by the negative learning rate: u' = -scale lr u. Exactly one stage of a chain applies the
// learning rate, usually this one.
// Hyperparameters: scale > 0. It multiplies the learning rate, so that the parts of a partition can use different
// rates.
// Cost: no state and no additional pass.
struct Descend {
  double scale = 1;

  static constexpr bool applies_learning_rate = true;
  void check() const { require_more_than(0, "Descend", "scale", scale); }

  template <class S>
  ALGOPERF_HD Scale<S> at(Step step) const {
    return {static_cast<S>(-scale * step.learning_rate)};
  }
};

}  // namespace algoperf
