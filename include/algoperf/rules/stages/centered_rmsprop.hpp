#pragma once

#include "moments.hpp"
#include "recipe.hpp"

namespace algoperf {

// The direction of centred RMSProp, which divides by the standard deviation of the gradient:
//   v' = rho v + (1 - rho) u^2;  m' = rho m + (1 - rho) u;  u' = u / (sqrt(max(0, v' - m'^2)) + eps).
// Hyperparameters: rho in [0, 1); eps > 0; eps_at selects where eps is added (stages/root.hpp).
// Source: Graves 2013 (arXiv:1308.0850), equations 38 to 45; torch's RMSprop(centered=True).
// Departures: torch has no max(0, ...) and returns NaN where rounding makes the difference negative.
// Cost: two floats of state per parameter, `square_avg` and `grad_avg`. chain(CenteredRmsProp{}, Descend{}) reads and
// writes 28 bytes per parameter and step.
struct CenteredRmsProp {
  double rho = 0.99;
  double eps = 1e-8;
  EpsAt eps_at = EpsAt::outside;

  static constexpr const char* slot_names[] = {"square_avg", "grad_avg"};
  void check() const {
    require(rho >= 0 && rho < 1, "CenteredRmsProp: rho is ", rho, ", expected [0, 1)");
    detail::check_eps("CenteredRmsProp", eps);
  }

  template <class S>
  struct Kernel {
    static constexpr std::size_t slots = 2;
    detail::Moments<S> moments;
    detail::Root<S> root;
    S scale = 1;
    template <class T>
    ALGOPERF_HD T operator()(T u, T, Slots<T, 2>& s) const {
      moments.update(u, s[1], s[0]);
      return math::fast_divide(scale * u, root(math::max<T>(T(0), s[0] - s[1] * s[1])));
    }
    ALGOPERF_HD Kernel scaled(S factor) const { return {moments, root, factor * scale}; }
  };
  template <class S>
  ALGOPERF_HD Kernel<S> at(Step) const {
    return {detail::Moments<S>::of(rho, rho), detail::Root<S>::of(eps_at, eps)};
  }
};

// The rule centred RMSProp, chain(CenteredRmsProp{...}, Descend{}): p' = p - lr centered_rmsprop(g).
// Hyperparameters and source: those of CenteredRmsProp.
// Cost: two floats of state, 28 bytes per parameter and step.
inline constexpr auto centered_rmsprop =
    []<std::same_as<CenteredRmsProp> Options = CenteredRmsProp>(Options options = {}) {
  return chain(options, Descend{});
};

}  // namespace algoperf
