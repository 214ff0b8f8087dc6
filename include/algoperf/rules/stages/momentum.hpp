#pragma once

#include "../../core/require.hpp"
#include "../concept.hpp"

namespace algoperf {

// Heavy-ball momentum: m' = mu m + (1 - dampening) u;  u' = m'.
// Hyperparameters: mu in [0, 1); dampening in [0, 1].
// Source: Polyak 1964.
// Departures: from torch only if dampening > 0. torch does not dampen the first step, because its buffer starts as
// the gradient. Here the buffer starts at zero, as in optax's trace.
// Cost: one float of state per parameter, `momentum_buffer`. chain(Momentum{}, Descend{}) reads and writes 20 bytes
// per parameter and step.
struct Momentum {
  double mu = 0.9;
  double dampening = 0;

  static constexpr const char* slot_names[] = {"momentum_buffer"};
  void check(const char* stage = "Momentum") const {
    require(mu >= 0 && mu < 1, stage, ": mu is ", mu, ", expected [0, 1)");
    require(dampening >= 0 && dampening <= 1, stage, ": dampening is ", dampening, ", expected [0, 1]");
  }

  template <class S>
  struct Kernel {
    static constexpr std::size_t slots = 1;
    S mu = 0, gain = 0;
    template <class T>
    ALGOPERF_HD T operator()(T u, T, Slots<T, 1>& s) const {
      s[0] = mu * s[0] + gain * u;
      return s[0];
    }
  };
  template <class S>
  ALGOPERF_HD Kernel<S> at(Step) const {
    return {static_cast<S>(mu), static_cast<S>(1 - dampening)};
  }
};

}  // namespace algoperf
