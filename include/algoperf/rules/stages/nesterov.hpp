#pragma once

#include "momentum.hpp"

namespace algoperf {

// Nesterov momentum in the look-ahead-free form: m' = mu m + (1 - dampening) u;  u' = (1 - dampening) u + mu m'.
// mu in [0, 1), dampening in [0, 1]. Sutskever et al. 2013; torch's SGD(nesterov=True) for dampening 0. With
// dampening = mu it is the averaging form that Muon uses. State: one float, `momentum_buffer`.
struct Nesterov {
  double mu = 0.9;
  double dampening = 0;

  static constexpr auto& slot_names = Momentum::slot_names;
  void check() const { Momentum{mu, dampening}.check("Nesterov"); }

  template <class S>
  struct Kernel {
    static constexpr std::size_t slots = 1;
    Momentum::Kernel<S> momentum;
    template <class T>
    ALGOPERF_HD T operator()(T u, T p, Slots<T, 1>& s) const {
      return momentum.gain * u + momentum.mu * momentum(u, p, s);
    }
  };
  template <class S>
  ALGOPERF_HD Kernel<S> at(Step step) const {
    return {Momentum{mu, dampening}.at<S>(step)};
  }
};

}  // namespace algoperf
