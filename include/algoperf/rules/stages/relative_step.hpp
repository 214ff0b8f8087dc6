#pragma once

#include "../../core/math.hpp"
#include "../chain/scale.hpp"

namespace algoperf {

// Lets the learning rate be at most 1 / sqrt(t): u' = u min(1, 1 / (lr sqrt(t))), before Descend. Shazeer & Stern 2018,
// section 8 (arXiv:1804.04235), whose rate is 0.01: rho_t = min(0.01, 1 / sqrt(t)). A stage and not a schedule, for
// torch's Adafactor decays the weights by the rate without this bound. Cost: none.
struct RelativeStep {
  template <class S>
  ALGOPERF_HD Scale<S> at(Step step) const {
    const double most = 1 / math::sqrt(static_cast<double>(step.t));
    return {static_cast<S>(step.learning_rate > most ? most / step.learning_rate : 1)};
  }
};

}  // namespace algoperf
