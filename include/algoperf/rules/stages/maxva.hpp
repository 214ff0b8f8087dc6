#pragma once

#include "maximum_variance.hpp"

namespace algoperf {

// The direction of MAdam: Adam with the maximum-variance second moment s (stages/maximum_variance.hpp):
//   m' = b1 m + (1 - b1) u;  u' = (m' / (1 - b1^t)) / (sqrt(s') + eps).
// Hyperparameters: beta1 in [0, 1); 0 <= beta_min <= beta_max < 1 with beta_max > 0; eps > 0. With beta_min =
// beta_max, the rule is Adam with that beta2.
// Source: Zhu et al. 2021, Algorithm 1 (arXiv:2006.11918).
// Cost: four floats of state per parameter, `exp_avg`, `variance_avg`, `variance_avg_sq` and `variance_weight`.
// chain(MaxVa{}, Descend{}) reads and writes 44 bytes per parameter and step.
struct MaxVa {
  double beta1 = 0.9;
  double beta_min = 0.5;
  double beta_max = 0.999;
  double eps = 1e-8;

  static constexpr const char* slot_names[] = {"exp_avg", "variance_avg", "variance_avg_sq", "variance_weight"};
  void check() const { detail::check_maximum_variance("MaxVa", beta1, beta_min, beta_max, eps); }

  template <class S>
  struct Kernel {
    static constexpr std::size_t slots = 4;
    detail::MaximumVariance<S> variance;
    S beta1 = 0, rest1 = 0, scale = 0, eps = 0;
    template <class T>
    ALGOPERF_HD T operator()(T u, T, Slots<T, 4>& s) const {
      variance.update(u, s[1], s[2], s[3]);
      s[0] = beta1 * s[0] + rest1 * u;
      return variance.quotient(T(scale * s[0]), s[2], s[3], T(eps));
    }
    ALGOPERF_HD Kernel scaled(S factor) const { return {variance, beta1, rest1, factor * scale, eps}; }
  };
  template <class S>
  ALGOPERF_HD Kernel<S> at(Step step) const {
    return {{static_cast<S>(beta_min), static_cast<S>(beta_max)},
            static_cast<S>(beta1),
            static_cast<S>(1 - beta1),
            static_cast<S>(1 / (1 - math::power(beta1, step.t))),
            detail::positive<S>(eps)};
  }
};

}  // namespace algoperf
