#pragma once

#include "moments.hpp"
#include "recipe.hpp"

namespace algoperf {

// The direction of diffGrad: Adam with smaller steps where the gradient hardly changes. m and v are as in Adam; with
// d = |previous u - u| and c = sqrt(1 - b2^t):
//   u' = sigmoid(d) (m' / (1 - b1^t)) c / (sqrt(v') + eps),  sigmoid(d) in [1/2, 1).
// Hyperparameters: beta1, beta2 in [0, 1); eps > 0.
// Source: Dubey et al. 2019 (arXiv:1909.11015), in the form of the authors' code, which adds eps to the uncorrected
// root.
// Cost: three floats of state per parameter, `exp_avg`, `exp_avg_sq` and `previous_grad` (0 before the first step).
// chain(DiffGrad{}, Descend{}) reads and writes 36 bytes per parameter and step.
struct DiffGrad {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;

  static constexpr const char* slot_names[] = {"exp_avg", "exp_avg_sq", "previous_grad"};
  void check() const { detail::check_moments("DiffGrad", beta1, beta2, eps); }

  template <class S>
  struct Kernel {
    static constexpr std::size_t slots = 3;
    detail::Moments<S> moments;
    detail::Root<S> root;
    S scale = 0;
    template <class T>
    ALGOPERF_HD T operator()(T u, T, Slots<T, 3>& s) const {
      moments.update(u, s[0], s[1]);
      const T friction = T(1) + math::exp<T>(-math::abs<T>(s[2] - u));
      s[2] = u;
      return math::fast_divide(scale * s[0], friction * root(s[1]));
    }
    ALGOPERF_HD Kernel scaled(S factor) const { return {moments, root, factor * scale}; }
  };
  template <class S>
  ALGOPERF_HD Kernel<S> at(Step step) const {
    const double c = math::sqrt(detail::bias(beta2, step));
    return {detail::Moments<S>::of(beta1, beta2), detail::Root<S>::of(EpsAt::uncorrected, eps),
            static_cast<S>(c / detail::bias(beta1, step))};
  }
};

// The rule diffGrad, chain(DiffGrad{...}, Descend{}): p' = p - lr diffgrad(g).
// Hyperparameters and source: those of DiffGrad.
// Cost: three floats of state, 36 bytes per parameter and step.
inline constexpr auto diffgrad = []<std::same_as<DiffGrad> Options = DiffGrad>(Options options = {}) {
  return chain(options, Descend{});
};

}  // namespace algoperf
