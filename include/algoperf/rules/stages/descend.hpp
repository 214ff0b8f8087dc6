#pragma once

#include "../../core/require.hpp"
#include "../chain/scale.hpp"

namespace algoperf {

// Scale by the learning rate and turn downhill: u' = -scale lr u. The one learning-rate stage of a chain. `scale` lets
// the parts of a partition learn at rates of their own. scale > 0. Cost: no state, no pass of its own.
struct Descend {
  double scale = 1;

  static constexpr bool applies_learning_rate = true;
  void check() const { require(scale > 0, "Descend: scale is ", scale, ", expected more than 0"); }

  template <class S>
  ALGOPERF_HD Scale<S> at(Step step) const {
    return {static_cast<S>(-scale * step.learning_rate)};
  }
};

}  // namespace algoperf
