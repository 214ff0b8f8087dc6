#pragma once

#include "momentum.hpp"

namespace algoperf {

// Nesterov momentum in the form without look-ahead parameters:
//   m' = mu m + (1 - dampening) u;  u' = (1 - dampening) u + mu m'.
// Hyperparameters: mu in [0, 1); dampening in [0, 1]. dampening = mu gives the averaging form, which Muon uses.
// Source: Sutskever et al. 2013; torch's SGD(nesterov=True), which has dampening 0.
// Cost: one float of state per parameter, `momentum_buffer`. chain(Nesterov{}, Descend{}) reads and writes 20 bytes
// per parameter and step.
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
