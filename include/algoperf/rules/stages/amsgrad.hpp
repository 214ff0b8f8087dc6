#pragma once

#include "moments.hpp"

namespace algoperf {

// The quantity whose running maximum AMSGrad stores.
enum class LargestOf {
  second_moment,            // v: torch
  corrected_second_moment,  // v / (1 - b2^t): optax
};

// The direction of AMSGrad: Adam with the running maximum of the second moment. m and v are as in Adam;
//   w' = max(w, v');  u' = (m' / (1 - b1^t)) / (sqrt(w' / (1 - b2^t)) + eps),
// or, with largest_of = LargestOf::corrected_second_moment:
//   w' = max(w, v' / (1 - b2^t));  u' = (m' / (1 - b1^t)) / (sqrt(w') + eps).
// Hyperparameters: beta1, beta2 in [0, 1); eps > 0.
// Source: Reddi et al. 2018, Algorithm 2; torch (LargestOf::second_moment) and optax
// (LargestOf::corrected_second_moment).
// Departures: Algorithm 2 has no bias correction.
// Cost: three floats of state per parameter, `exp_avg`, `exp_avg_sq` and `max_exp_avg_sq`. chain(AmsGrad{},
// Descend{}) reads and writes 36 bytes per parameter and step.
struct AmsGrad {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  LargestOf largest_of = LargestOf::second_moment;

  static constexpr const char* slot_names[] = {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"};
  void check() const { detail::check_moments("AmsGrad", beta1, beta2, eps); }

  template <class S>
  struct Kernel {
    static constexpr std::size_t slots = 3;
    detail::Moments<S> moments;
    detail::Root<S> root;
    S correction = 0, scale = 0;
    template <class T>
    ALGOPERF_HD T operator()(T u, T, Slots<T, 3>& s) const {
      moments.update(u, s[0], s[1]);
      s[2] = math::max<T>(correction * s[1], s[2]);
      return math::fast_divide(scale * s[0], root(s[2]));
    }
    ALGOPERF_HD Kernel scaled(S factor) const { return {moments, root, correction, factor * scale}; }
  };
  template <class S>
  ALGOPERF_HD Kernel<S> at(Step step) const {
    const bool corrected = largest_of == LargestOf::corrected_second_moment;
    const double bias2 = detail::bias(beta2, step), c = corrected ? 1 : math::sqrt(bias2);
    return {detail::Moments<S>::of(beta1, beta2), detail::Root<S>::of(EpsAt::outside, eps, c),
            static_cast<S>(corrected ? 1 / bias2 : 1), static_cast<S>(c / detail::bias(beta1, step))};
  }
};

}  // namespace algoperf
