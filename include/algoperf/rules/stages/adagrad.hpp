#pragma once

#include "recipe.hpp"
#include "root.hpp"

namespace algoperf {

// The direction of Adagrad, with v = start before the first step:
//   v' = v + u^2;  u' = u / (sqrt(v') + eps).
// Hyperparameters: eps > 0; start >= 0; eps_at selects where eps is added (stages/root.hpp).
// Source: Duchi et al. 2011. The defaults are torch's: eps 1e-10, start 0. optax uses eps 1e-7, EpsAt::inside and
// start 0.1.
// Cost: one float of state per parameter, `sum`. chain(Adagrad{}, Descend{}) reads and writes 20 bytes per parameter
// and step.
struct Adagrad {
  double eps = 1e-10;
  EpsAt eps_at = EpsAt::outside;
  double start = 0;

  static constexpr const char* slot_names[] = {"sum"};
  double initial(std::size_t) const { return start; }
  void check() const {
    detail::check_eps("Adagrad", eps);
    require_at_least(0, "Adagrad", "start", start);
  }

  template <class S>
  struct Kernel {
    static constexpr std::size_t slots = 1;
    detail::Root<S> root;
    S scale = 1;
    template <class T>
    ALGOPERF_HD T operator()(T u, T, Slots<T, 1>& s) const {
      s[0] = s[0] + u * u;
      return math::fast_divide(scale * u, root(s[0]));
    }
    ALGOPERF_HD Kernel scaled(S factor) const { return {root, factor * scale}; }
  };
  template <class S>
  ALGOPERF_HD Kernel<S> at(Step) const {
    return {detail::Root<S>::of(eps_at, eps)};
  }
};

// The rule Adagrad, chain(Adagrad{...}, Descend{}): p' = p - lr adagrad(g).
// Hyperparameters and source: those of Adagrad. The defaults are torch's.
// Cost: one float of state, 20 bytes per parameter and step.
inline constexpr auto adagrad = []<std::same_as<Adagrad> Options = Adagrad>(Options options = {}) {
  return chain(options, Descend{});
};

}  // namespace algoperf
