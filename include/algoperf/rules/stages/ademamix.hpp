#pragma once

#include "moments.hpp"

namespace algoperf {

// The direction of AdEMAMix: Adam with a second, slower average n of the gradient. m and v are as in Adam:
//   n' = b3 n + (1 - b3) u;
//   u' = (m' / (1 - b1^t) + a n') / (sqrt(v' / (1 - b2^t)) + eps).
// During the first `warmup` steps, a rises linearly from 0 to alpha, and b3 rises from beta1 to beta3 such that its
// half-life is linear in t. Afterwards a = alpha and b3 = beta3.
// Hyperparameters: beta1, beta2, beta3 in [0, 1); beta3 >= beta1; beta1 > 0 if warmup > 0; alpha >= 0; eps > 0;
// warmup in steps.
// Source: Pagliardini et al. 2024 (arXiv:2409.03137), Algorithm 1 and section 3.1; the authors' code.
// Cost: three floats of state per parameter, `exp_avg`, `exp_avg_sq` and `exp_avg_slow`. chain(AdEmaMix{}, Descend{})
// reads and writes 36 bytes per parameter and step.
struct AdEmaMix {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double beta3 = 0.9999;
  double alpha = 5;
  double eps = 1e-8;
  std::uint64_t warmup = 0;

  static constexpr const char* slot_names[] = {"exp_avg", "exp_avg_sq", "exp_avg_slow"};
  void check() const {
    detail::check_moments("AdEmaMix", beta1, beta2, eps);
    require(beta3 >= beta1 && beta3 < 1, "AdEmaMix: beta3 is ", beta3, ", expected [beta1, 1)");
    require_at_least(0, "AdEmaMix", "alpha", alpha);
    require(warmup == 0 || beta1 > 0, "AdEmaMix: beta1 is 0, expected more than 0 if warmup is used");
  }

  template <class S>
  struct Kernel {
    static constexpr std::size_t slots = 3;
    detail::Moments<S> moments;
    detail::Root<S> root;
    S beta3 = 0, rest3 = 0, of_fast = 0, of_slow = 0;
    template <class T>
    ALGOPERF_HD T operator()(T u, T, Slots<T, 3>& s) const {
      moments.update(u, s[0], s[1]);
      s[2] = beta3 * s[2] + rest3 * u;
      return math::fast_divide(of_fast * s[0] + of_slow * s[2], root(s[1]));
    }
    ALGOPERF_HD Kernel scaled(S factor) const {
      return {moments, root, beta3, rest3, factor * of_fast, factor * of_slow};
    }
  };
  template <class S>
  ALGOPERF_HD Kernel<S> at(Step step) const {
    const double c = math::sqrt(detail::bias(beta2, step)), b3 = slow_beta(step.t);
    return {detail::Moments<S>::of(beta1, beta2),
            detail::Root<S>::of(EpsAt::outside, eps, c),
            static_cast<S>(b3),
            static_cast<S>(1 - b3),
            static_cast<S>(c / detail::bias(beta1, step)),
            static_cast<S>(c * alpha * progress(step.t))};
  }

 private:
  ALGOPERF_HD double progress(std::uint64_t t) const {
    return t < warmup ? static_cast<double>(t) / static_cast<double>(warmup) : 1;
  }
  // The half-life h of an average with coefficient beta satisfies beta^h = 1/2, so h = log(1/2) / log(beta).
  ALGOPERF_HD double slow_beta(std::uint64_t t) const {
    if (t >= warmup) return beta3;
    const double a = progress(t), half = math::log(0.5);
    const double from = half / math::log(beta1), to = half / math::log(beta3);
    return math::exp(half / ((1 - a) * from + a * to));
  }
};

}  // namespace algoperf
