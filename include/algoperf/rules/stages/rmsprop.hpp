#pragma once

#include "moments.hpp"
#include "recipe.hpp"

namespace algoperf {

// The direction of RMSProp, with v = start before the first step:
//   v' = rho v + (1 - rho) u^2;  u' = u / (sqrt(v') + eps).
// With bias_correction = BiasCorrection::on, v' / (1 - rho^t) replaces v' in u'. This is Adam without momentum, the
// direction of schedule-free AdamW. Momentum{} may follow the stage, before Descend (torch) or after it (TensorFlow).
// Hyperparameters: rho in [0, 1], less than 1 with bias_correction; eps > 0, or >= 0 if start > 0; start >= 0; eps_at
// selects where eps is added (stages/root.hpp).
// Source: Tieleman & Hinton 2012, lecture 6.5. torch: rho 0.99, EpsAt::outside; optax: rho 0.9, EpsAt::inside;
// TensorFlow: start 1.
// Cost: one float of state per parameter, `square_avg`. chain(RmsProp{}, Descend{}) reads and writes 20 bytes per
// parameter and step.
struct RmsProp {
  double rho = 0.99;
  double eps = 1e-8;
  EpsAt eps_at = EpsAt::outside;
  double start = 0;
  BiasCorrection bias_correction = BiasCorrection::off;

  static constexpr const char* slot_names[] = {"square_avg"};
  double initial(std::size_t) const { return start; }
  void check() const {
    require(rho >= 0 && rho <= 1, "RmsProp: rho is ", rho, ", expected [0, 1]");
    require(rho < 1 || bias_correction == BiasCorrection::off,
            "RmsProp: rho is 1, expected less than 1 with bias_correction");
    require_at_least(0, "RmsProp", "start", start);
    if (start > 0 && eps == 0) return;
    detail::check_eps("RmsProp", eps);
  }

  template <class S>
  struct Kernel {
    static constexpr std::size_t slots = 1;
    S rho = 0, rest = 0;
    detail::Root<S> root;
    S scale = 1;
    template <class T>
    ALGOPERF_HD T operator()(T u, T, Slots<T, 1>& s) const {
      s[0] = rho * s[0] + rest * u * u;
      return math::fast_divide(scale * u, root(s[0]));
    }
    ALGOPERF_HD Kernel scaled(S factor) const { return {rho, rest, root, factor * scale}; }
  };
  template <class S>
  ALGOPERF_HD Kernel<S> at(Step step) const {
    const double c = math::sqrt(detail::bias(rho, step, bias_correction));
    return {static_cast<S>(rho), static_cast<S>(1 - rho), detail::Root<S>::of(eps_at, eps, c), static_cast<S>(c)};
  }
};

// The rule RMSProp, chain(RmsProp{...}, Descend{}): p' = p - lr rmsprop(g).
// Hyperparameters and source: those of RmsProp. The defaults are torch's.
// Cost: one float of state, 20 bytes per parameter and step. With momentum, chain(RmsProp{}, Momentum{}, Descend{}),
// 28 bytes.
inline constexpr auto rmsprop = []<std::same_as<RmsProp> Options = RmsProp>(Options options = {}) {
  return chain(options, Descend{});
};

}  // namespace algoperf
