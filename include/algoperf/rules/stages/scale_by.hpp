#pragma once

#include "../../core/require.hpp"
#include "../chain/scale.hpp"

namespace algoperf {

// Multiplies the update by a constant: u' = factor u. With masked(...), it gives some tensors of a chain a different
// learning rate:
//   chain(Adam{}, DecayedWeights{}, masked(ScaleBy{0.1}, Named{"0."}), Descend{})
// Hyperparameters: factor is finite. With factor 0 the tensors do not change, but their state still takes memory;
// frozen() keeps no state per parameter.
// Cost: no state and no additional pass.
struct ScaleBy {
  double factor = 1;

  void check() const { require(factor - factor == 0, "ScaleBy: factor is ", factor, ", expected a finite number"); }

  template <class S>
  ALGOPERF_HD Scale<S> at(Step) const {
    return {static_cast<S>(factor)};
  }
};

}  // namespace algoperf
