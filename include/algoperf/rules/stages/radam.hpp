#pragma once

#include "moments.hpp"

namespace algoperf {

// The direction of rectified Adam. m, v, m_hat and v_hat are as in Adam;
//   rho_inf = 2 / (1 - b2) - 1;  rho = rho_inf - 2 t b2^t / (1 - b2^t);
//   u' = m_hat                                 while rho <= 5,
//   u' = r m_hat / (sqrt(v_hat) + eps)         afterwards,
//   r^2 = (rho - 4)(rho - 2) rho_inf / ((rho_inf - 4)(rho_inf - 2) rho).
// Hyperparameters: beta1 in [0, 1); eps > 0; beta2 in (2/3, 1), because with smaller values no step is ever
// rectified.
// Source: Liu et al. 2020, Algorithm 2 (arXiv:1908.03265).
// Departures: torch adds eps to the uncorrected root (EpsAt::uncorrected, the default here); optax adds it to the
// corrected root (EpsAt::outside).
// Cost: two floats of state per parameter, `exp_avg` and `exp_avg_sq`. chain(RAdam{}, Descend{}) reads and writes 28
// bytes per parameter and step.
struct RAdam {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  EpsAt eps_at = EpsAt::uncorrected;

  static constexpr const char* slot_names[] = {"exp_avg", "exp_avg_sq"};
  void check() const {
    detail::check_moments("RAdam", beta1, beta2, eps);
    require(beta2 > 2.0 / 3, "RAdam: beta2 is ", beta2, ", expected (2/3, 1)");
  }

  template <class S>
  struct Kernel {
    static constexpr std::size_t slots = 2;
    detail::Moments<S> moments;
    detail::Root<S> root;
    S scale = 0;
    bool rectified = false;
    template <class T>
    ALGOPERF_HD T operator()(T u, T, Slots<T, 2>& s) const {
      moments.update(u, s[0], s[1]);
      return rectified ? math::fast_divide(scale * s[0], root(s[1])) : scale * s[0];
    }
    ALGOPERF_HD Kernel scaled(S factor) const { return {moments, root, factor * scale, rectified}; }
  };
  template <class S>
  ALGOPERF_HD Kernel<S> at(Step step) const {
    const double bias2 = detail::bias(beta2, step), c = math::sqrt(bias2), limit = 2 / (1 - beta2) - 1;
    const double rho = limit - 2 * static_cast<double>(step.t) * (1 - bias2) / bias2;
    const bool rectified = rho > 5;
    const double r = rectified ? c * math::sqrt((rho - 4) * (rho - 2) * limit / ((limit - 4) * (limit - 2) * rho)) : 1;
    return {detail::Moments<S>::of(beta1, beta2), detail::Root<S>::of(eps_at, eps, c),
            static_cast<S>(r / detail::bias(beta1, step)), rectified};
  }
};

}  // namespace algoperf
