#pragma once

#include "moments.hpp"
#include "recipe.hpp"

namespace algoperf {

// RMSProp by the variance: v' = rho v + (1 - rho) u^2;  m' = rho m + (1 - rho) u;  u' = u / (sqrt(v' - m'^2) + eps),
// the difference never below 0 (torch gives NaN where rounding makes it so). rho in [0, 1), eps > 0. Graves 2013
// (arXiv:1308.0850), equations 38 to 45; torch's RMSprop(centered=True). State: two floats, `square_avg` and
// `grad_avg`. 28 bytes a parameter as a chain of its own.
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

// The recipe chain(CenteredRmsProp{...}, Descend{}). Two floats of state, 28 bytes a parameter.
template <std::same_as<CenteredRmsProp> Options = CenteredRmsProp>
constexpr auto centered_rmsprop(Options options = {}) {
  return chain(options, Descend{});
}

}  // namespace algoperf
