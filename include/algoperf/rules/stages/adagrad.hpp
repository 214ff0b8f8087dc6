#pragma once

#include "recipe.hpp"
#include "root.hpp"

namespace algoperf {

// Adagrad's direction: v' = v + u^2;  u' = u / (sqrt(v') + eps), from v = start.
// eps > 0, start >= 0. Duchi et al. 2011. torch has eps 1e-10 and starts at 0; optax starts at 0.1, with
// eps_at = EpsAt::inside and eps 1e-7. State: one float, `sum`. 20 bytes a parameter as a chain of its own.
struct Adagrad {
  double eps = 1e-10;
  EpsAt eps_at = EpsAt::outside;
  double start = 0;

  static constexpr const char* slot_names[] = {"sum"};
  double initial(std::size_t) const { return start; }
  void check() const {
    detail::check_eps("Adagrad", eps);
    require(start >= 0, "Adagrad: start is ", start, ", expected at least 0");
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

// The recipe chain(Adagrad{...}, Descend{}): p' = p - lr adagrad(g). torch's defaults. One float of state, 20 bytes a
// parameter.
template <std::same_as<Adagrad> Options = Adagrad>
constexpr auto adagrad(Options options = {}) {
  return chain(options, Descend{});
}

}  // namespace algoperf
