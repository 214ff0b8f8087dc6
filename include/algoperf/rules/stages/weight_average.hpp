#pragma once

#include "../../core/math.hpp"
#include "../../core/require.hpp"
#include "../concept.hpp"

namespace algoperf {

// Exponential moving average of the parameters: a' = decay a + (1 - decay) (p + u);  u' = u.
// Place the stage last, after Descend. evaluation_values returns a / (1 - decay^t), which corrects the bias of the
// initial a = 0.
// Hyperparameters: decay in [0, 1).
// Source: Polyak & Juditsky 1992; optax's ema with debias.
// Cost: one float of state per parameter, `weight_average`.
struct WeightAverage {
  double decay = 0.999;

  static constexpr bool sees_final_update = true;
  static constexpr const char* slot_names[] = {"weight_average"};
  void check() const { require(decay >= 0 && decay < 1, "WeightAverage: decay is ", decay, ", expected [0, 1)"); }

  template <class S>
  struct Kernel {
    static constexpr std::size_t slots = 1;
    S decay = 0, rest = 0;
    template <class T>
    ALGOPERF_HD T operator()(T u, T p, Slots<T, 1>& s) const {
      s[0] = decay * s[0] + rest * (p + u);
      return u;
    }
  };
  template <class S>
  ALGOPERF_HD Kernel<S> at(Step) const {
    return {static_cast<S>(decay), static_cast<S>(1 - decay)};
  }

  // Maps (value, average) to the value used for evaluation.
  template <class S>
  struct Evaluation {
    S debias = 1;
    template <class T>
    ALGOPERF_HD T operator()(T, T average) const {
      return debias * average;
    }
  };
  template <class S>
  Evaluation<S> evaluation(Step step) const {
    return {static_cast<S>(1 / (1 - math::power(decay, step.t)))};
  }
};

}  // namespace algoperf
