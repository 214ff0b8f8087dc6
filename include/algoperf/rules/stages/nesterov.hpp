#pragma once

#include "../../core/require.hpp"
#include "../concept.hpp"

namespace algoperf {

// Nesterov momentum in the look-ahead-free form: m' = mu m + (1 - dampening) u;  u' = (1 - dampening) u + mu m'.
// mu in [0, 1), dampening in [0, 1]. Sutskever et al. 2013; torch's SGD(nesterov=True) for dampening 0. With
// dampening = mu it is the averaging form that Muon uses. State: one float, `momentum_buffer`.
struct Nesterov {
  double mu = 0.9;
  double dampening = 0;

  static constexpr const char* slot_names[] = {"momentum_buffer"};
  void check() const {
    require(mu >= 0 && mu < 1, "Nesterov: mu is ", mu, ", expected [0, 1)");
    require(dampening >= 0 && dampening <= 1, "Nesterov: dampening is ", dampening, ", expected [0, 1]");
  }

  template <class S>
  struct Kernel {
    static constexpr std::size_t slots = 1;
    S mu = 0, gain = 0;
    template <class T>
    ALGOPERF_HD T operator()(T u, T, Slots<T, 1>& s) const {
      s[0] = mu * s[0] + gain * u;
      return gain * u + mu * s[0];
    }
  };
  template <class S>
  Kernel<S> at(Step) const {
    return {static_cast<S>(mu), static_cast<S>(1 - dampening)};
  }
};

}  // namespace algoperf
