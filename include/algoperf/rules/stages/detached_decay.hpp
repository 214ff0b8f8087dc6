#pragma once

#include "../../core/require.hpp"
#include "../concept.hpp"

namespace algoperf {

// The dependence of DetachedDecay on the learning rate.
enum class DecayBy {
  itself,        // rate, independent of the learning rate: optax's Adafactor
  schedule,      // rate lr / peak: the schedule's shape without its scale (Loshchilov & Hutter 2019, Algorithm 2)
  rate_squared,  // rate lr^2 / peak: "corrected" decay; the equilibrium norm does not depend on the schedule
};

// Weight decay that is not scaled by the base learning rate:
//   u' = u - rate f p,  f = lr / peak (DecayBy::schedule), lr^2 / peak (rate_squared) or 1 (itself).
// Place the stage after Descend. The decay of torch and optax, which is scaled by lr, is DecayedWeights before
// Descend; at the head of a chain, DecayedWeights is L2 regularisation.
// Hyperparameters: rate >= 0; peak > 0, the largest learning rate of the schedule.
// Source: Loshchilov & Hutter 2019 (arXiv:1711.05101); Defazio 2025 for rate_squared.
// Cost: no state and no additional traffic, because p is read anyway.
struct DetachedDecay {
  double rate = 0.01;
  double peak = 1;
  DecayBy by = DecayBy::schedule;

  void check() const {
    require_at_least(0, "DetachedDecay", "rate", rate);
    require_more_than(0, "DetachedDecay", "peak", peak);
  }

  template <class S>
  struct Kernel {
    static constexpr std::size_t slots = 0;
    S rate = 0;
    template <class T>
    ALGOPERF_HD T operator()(T u, T p, Slots<T, 0>&) const {
      return u - rate * p;
    }
  };
  template <class S>
  ALGOPERF_HD Kernel<S> at(Step step) const {
    const double share = step.learning_rate / peak;
    const double factor = by == DecayBy::itself ? 1 : by == DecayBy::schedule ? share : share * step.learning_rate;
    return {static_cast<S>(rate * factor)};
  }
};

}  // namespace algoperf
