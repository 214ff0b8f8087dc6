#pragma once

#include "../../core/math.hpp"
#include "../chain/scale.hpp"

namespace algoperf {

// Limits the learning rate to 1 / sqrt(t): u' = u min(1, 1 / (lr sqrt(t))). Place the stage before Descend.
// This is a stage rather than a schedule because torch's Adafactor scales its weight decay by the unlimited learning
// rate.
// Source: Shazeer & Stern 2018, section 8 (arXiv:1804.04235), with the learning rate 0.01:
//   rho_t = min(0.01, 1 / sqrt(t)).
// Cost: no state and no additional pass.
struct RelativeStep {
  template <class S>
  ALGOPERF_HD Scale<S> at(Step step) const {
    const double most = 1 / math::sqrt(static_cast<double>(step.t));
    return {static_cast<S>(step.learning_rate > most ? most / step.learning_rate : 1)};
  }
};

}  // namespace algoperf
