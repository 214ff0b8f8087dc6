#pragma once

#include "../../core/require.hpp"
#include "../chain/scale.hpp"

namespace algoperf {

// u' = factor u: a learning rate of its own for some tensors, within one chain. factor is finite; 0 holds them still,
// at the cost of their state (frozen() has none).
//   chain(Adam{}, DecayedWeights{}, masked(ScaleBy{0.1}, Named{"0."}), Descend{})
// Cost: none.
struct ScaleBy {
  double factor = 1;

  void check() const { require(factor - factor == 0, "ScaleBy: factor is ", factor, ", expected a finite number"); }

  template <class S>
  ALGOPERF_HD Scale<S> at(Step) const {
    return {static_cast<S>(factor)};
  }
};

}  // namespace algoperf
