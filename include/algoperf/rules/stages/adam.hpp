#pragma once

#include "moments.hpp"
#include "recipe.hpp"

namespace algoperf {

// The direction of Adam:
//   m' = b1 m + (1 - b1) u;  v' = b2 v + (1 - b2) u^2;
//   u' = (m' / (1 - b1^t)) / (sqrt(v' / (1 - b2^t)) + eps).
// Hyperparameters: beta1, beta2 in [0, 1); eps > 0; eps_at selects where eps is added (stages/root.hpp);
// bias_correction = BiasCorrection::off omits 1 - b1^t and 1 - b2^t, as some versions of LAMB do.
// Source: Kingma & Ba 2015, Algorithm 1 (arXiv:1412.6980); torch; optax.
// Cost: two floats of state per parameter, `exp_avg` and `exp_avg_sq`. chain(Adam{}, Descend{}) reads and writes 28
// bytes per parameter and step.
struct Adam {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  EpsAt eps_at = EpsAt::outside;
  BiasCorrection bias_correction = BiasCorrection::on;

  static constexpr const char* slot_names[] = {"exp_avg", "exp_avg_sq"};
  void check() const { detail::check_moments("Adam", beta1, beta2, eps); }

  // The bias corrections are folded into constants. With c = sqrt(1 - b2^t):
  //   u' = c / (1 - b1^t) * m' / (sqrt(v') + c eps).
  template <class S>
  struct Kernel {
    static constexpr std::size_t slots = 2;
    detail::Moments<S> moments;
    detail::Root<S> root;
    S scale = 0;
    template <class T>
    ALGOPERF_HD T operator()(T u, T, Slots<T, 2>& s) const {
      moments.update(u, s[0], s[1]);
      return math::fast_divide(scale * s[0], root(s[1]));
    }
    ALGOPERF_HD Kernel scaled(S factor) const { return {moments, root, factor * scale}; }
  };
  template <class S>
  ALGOPERF_HD Kernel<S> at(Step step) const {
    const double c = math::sqrt(detail::bias(beta2, step, bias_correction));
    return {detail::Moments<S>::of(beta1, beta2), detail::Root<S>::of(eps_at, eps, c),
            static_cast<S>(c / detail::bias(beta1, step, bias_correction))};
  }
};

// The rule Adam, chain(Adam{...}, Descend{}): p' = p - lr adam(g).
// Hyperparameters and source: those of Adam.
// Cost: two floats of state, 28 bytes per parameter and step.
inline constexpr auto adam = []<std::same_as<Adam> Options = Adam>(Options options = {}) {
  return chain(options, Descend{});
};

}  // namespace algoperf
