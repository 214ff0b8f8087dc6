#pragma once

#include "moments.hpp"
#include "recipe.hpp"

namespace algoperf {

// The direction of Yogi: Adam whose second moment changes by (1 - b2) u^2 per step, towards u^2. With v = start
// before the first step:
//   m' = b1 m + (1 - b1) u;  v' = v - (1 - b2) sign(v - u^2) u^2;
//   u' = (m' / (1 - b1^t)) / (sqrt(v' / (1 - b2^t)) + eps).
// Hyperparameters: beta1, beta2 in [0, 1); eps > 0; start >= 0; eps_at selects where eps is added (stages/root.hpp).
// Source: Zaheer et al. 2018, Algorithm 2; optax.
// Departures: the paper has no bias correction and starts v at 0 (BiasCorrection::off and start = 0 here). optax
// starts m at `start`; here m starts at 0, as in the paper.
// Cost: two floats of state per parameter, `exp_avg` and `exp_avg_sq`. chain(Yogi{}, Descend{}) reads and writes 28
// bytes per parameter and step.
struct Yogi {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-3;
  EpsAt eps_at = EpsAt::outside;
  BiasCorrection bias_correction = BiasCorrection::on;
  double start = 1e-6;

  static constexpr const char* slot_names[] = {"exp_avg", "exp_avg_sq"};
  double initial(std::size_t j) const { return j == 1 ? start : 0; }
  void check() const {
    detail::check_moments("Yogi", beta1, beta2, eps);
    require_at_least(0, "Yogi", "start", start);
  }

  template <class S>
  struct Kernel {
    static constexpr std::size_t slots = 2;
    S beta1 = 0, rest1 = 0, rest2 = 0;
    detail::Root<S> root;
    S scale = 0;
    template <class T>
    ALGOPERF_HD T operator()(T u, T, Slots<T, 2>& s) const {
      const T square = u * u;
      s[0] = beta1 * s[0] + rest1 * u;
      s[1] = s[1] - rest2 * math::sign<T>(s[1] - square) * square;
      return math::fast_divide(scale * s[0], root(s[1]));
    }
    ALGOPERF_HD Kernel scaled(S factor) const { return {beta1, rest1, rest2, root, factor * scale}; }
  };
  template <class S>
  ALGOPERF_HD Kernel<S> at(Step step) const {
    const double c = math::sqrt(detail::bias(beta2, step, bias_correction));
    return {static_cast<S>(beta1), static_cast<S>(1 - beta1), static_cast<S>(1 - beta2),
            detail::Root<S>::of(eps_at, eps, c), static_cast<S>(c / detail::bias(beta1, step, bias_correction))};
  }
};

// The rule Yogi, chain(Yogi{...}, Descend{}): p' = p - lr yogi(g).
// Hyperparameters and source: those of Yogi. The defaults are optax's.
// Cost: two floats of state, 28 bytes per parameter and step.
inline constexpr auto yogi = []<std::same_as<Yogi> Options = Yogi>(Options options = {}) {
  return chain(options, Descend{});
};

}  // namespace algoperf
