#pragma once

#include "maximum_variance.hpp"

namespace algoperf {

// The direction of LaMAdam. As in LaProp, the gradient is divided by the root of the second moment before the
// momentum, and the momentum includes the learning rate. s is the maximum-variance second moment
// (stages/maximum_variance.hpp):
//   m' = b1 m + (1 - b1) lr u / (sqrt(s') + eps);  c' = b1 c + (1 - b1) lr;  u' = -(lr / c') m'.
// The stage applies the learning rate itself, so its chain has no Descend.
// Hyperparameters: beta1 in [0, 1); 0 <= beta_min <= beta_max < 1 with beta_max > 0; eps > 0.
// Source: Zhu et al. 2021, Algorithm 2 (arXiv:2006.11918). Its weight decay, added to the gradient, is in lamadam().
// Cost: four floats of state per parameter, `exp_avg`, `variance_avg`, `variance_avg_sq` and `variance_weight`, and
// one scalar per chain, `rate_avg` (c). chain(LaMaxVa{}) reads and writes 44 bytes per parameter and step.
struct LaMaxVa {
  double beta1 = 0.9;
  double beta_min = 0.5;
  double beta_max = 0.98;
  double eps = 1e-15;

  struct Scalars {
    double rate_avg = 0;
    template <class Archive>
    void visit(Archive& archive) {
      archive.number("rate_avg", rate_avg);
    }
  };
  static constexpr bool applies_learning_rate = true;
  static constexpr const char* slot_names[] = {"exp_avg", "variance_avg", "variance_avg_sq", "variance_weight"};
  void check() const { detail::check_maximum_variance("LaMaxVa", beta1, beta_min, beta_max, eps); }

  template <class S>
  struct Kernel {
    static constexpr std::size_t slots = 4;
    detail::MaximumVariance<S> variance;
    S beta1 = 0, gain = 0, scale = 0, eps = 0;
    template <class T>
    ALGOPERF_HD T operator()(T u, T, Slots<T, 4>& s) const {
      variance.update(u, s[1], s[2], s[3]);
      s[0] = beta1 * s[0] + variance.quotient(T(gain * u), s[2], s[3], T(eps));
      return scale * s[0];
    }
  };
  void advance(Step step, Scalars& scalars) const {
    scalars.rate_avg = beta1 * scalars.rate_avg + (1 - beta1) * step.learning_rate;
  }
  template <class S>
  ALGOPERF_HD Kernel<S> at(Step step, const Scalars& scalars) const {
    const double rate = step.learning_rate;
    return {{static_cast<S>(beta_min), static_cast<S>(beta_max)},
            static_cast<S>(beta1),
            static_cast<S>((1 - beta1) * rate),
            static_cast<S>(scalars.rate_avg > 0 ? -rate / scalars.rate_avg : 0),
            detail::positive<S>(eps)};
  }
};

}  // namespace algoperf
