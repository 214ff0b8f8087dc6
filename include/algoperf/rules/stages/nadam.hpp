#pragma once

#include "moments.hpp"

namespace algoperf {

// Adam with Nesterov momentum, in AlgoPerf's form: m and v as Adam;
//   u' = ((b1 m' + (1 - b1) u) / (1 - b1^t)) / (sqrt(v' / (1 - b2^t)) + eps).
// beta1, beta2 in [0, 1), eps > 0. Dozat 2016; Choi et al. 2019 (arXiv:1910.05446), Table 1; AlgoPerf's NadamW
// baseline. Departs from torch's NAdam (no momentum decay schedule) and from optax's nadam (which corrects m' by 1 -
// b1^(t+1)). State: two floats, `exp_avg` and `exp_avg_sq`.
struct NAdam {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;

  static constexpr const char* slot_names[] = {"exp_avg", "exp_avg_sq"};
  void check() const { detail::check_moments("NAdam", beta1, beta2, eps); }

  // The corrections are folded as Adam's.
  template <class S>
  struct Kernel {
    static constexpr std::size_t slots = 2;
    detail::Moments<S> moments;
    S of_m = 0, of_u = 0, eps = 0;
    template <class T>
    ALGOPERF_HD T operator()(T u, T, Slots<T, 2>& s) const {
      moments.update(u, s[0], s[1]);
      return (of_m * s[0] + of_u * u) / (math::sqrt(s[1]) + eps);
    }
    Kernel scaled(S factor) const { return {moments, factor * of_m, factor * of_u, eps}; }
  };
  template <class S>
  Kernel<S> at(Step step) const {
    const double c = math::sqrt(1 - math::power(beta2, step.t)), scale = c / (1 - math::power(beta1, step.t));
    return {detail::Moments<S>::of(beta1, beta2), static_cast<S>(scale * beta1), static_cast<S>(scale * (1 - beta1)),
            detail::positive<S>(c * eps)};
  }
};

}  // namespace algoperf
