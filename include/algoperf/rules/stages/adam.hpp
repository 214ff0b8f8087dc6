#pragma once

#include "moments.hpp"

namespace algoperf {

// Adam's direction: m' = b1 m + (1 - b1) u;  v' = b2 v + (1 - b2) u^2;
//   u' = (m' / (1 - b1^t)) / (sqrt(v' / (1 - b2^t)) + eps).
// beta1, beta2 in [0, 1), eps > 0. Kingma & Ba 2015, Algorithm 1 (arXiv:1412.6980); eps outside the root of the
// corrected v, as in torch and optax. State: two floats, `exp_avg` and `exp_avg_sq`. 28 bytes a parameter as a chain of
// its own.
struct Adam {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;

  static constexpr const char* slot_names[] = {"exp_avg", "exp_avg_sq"};
  void check() const { detail::check_moments("Adam", beta1, beta2, eps); }

  // The corrections are folded: with c = sqrt(1 - b2^t), u' = c / (1 - b1^t) * m' / (sqrt(v') + c eps).
  template <class S>
  struct Kernel {
    static constexpr std::size_t slots = 2;
    detail::Moments<S> moments;
    S scale = 0, eps = 0;
    template <class T>
    ALGOPERF_HD T operator()(T u, T, Slots<T, 2>& s) const {
      moments.update(u, s[0], s[1]);
      return scale * s[0] / (math::sqrt(s[1]) + eps);
    }
    Kernel scaled(S factor) const { return {moments, factor * scale, eps}; }
  };
  template <class S>
  Kernel<S> at(Step step) const {
    const double c = math::sqrt(1 - math::power(beta2, step.t));
    return {detail::Moments<S>::of(beta1, beta2), static_cast<S>(c / (1 - math::power(beta1, step.t))),
            detail::positive<S>(c * eps)};
  }
};

}  // namespace algoperf
