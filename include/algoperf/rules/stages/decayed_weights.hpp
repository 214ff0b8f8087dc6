#pragma once

#include "../../core/require.hpp"
#include "../concept.hpp"

namespace algoperf {

// Weight decay: u' = u + rate p.
// Before Descend, the decay is decoupled and scaled by the learning rate (AdamW). As the first stage of a chain, it
// is L2 regularisation. masked(DecayedWeights{...}, decayable) exempts biases and normalisation parameters.
// If only Descend follows, applying the update multiplies p by 1 - lr rate, as torch does. The factor is rounded to
// the scalar type, so in float the decay has no effect if lr rate is below 3e-8.
// Hyperparameters: rate >= 0.
// Source: Loshchilov & Hutter 2019, in the form of torch and optax, which scale the decay by the learning rate.
// Cost: no state and no additional traffic, because p is read anyway.
struct DecayedWeights {
  double rate = 0.01;

  void check() const { require_at_least(0, "DecayedWeights", "rate", rate); }

  template <class S>
  struct Kernel {
    static constexpr std::size_t slots = 0;
    S rate = 0;
    template <class T>
    ALGOPERF_HD T operator()(T u, T p, Slots<T, 0>&) const {
      return u + rate * p;
    }
    template <class T>
    ALGOPERF_HD T applied(T u, T p, Slots<T, 0>&) const {
      return (S(1) + rate) * p + u;
    }
    ALGOPERF_HD Kernel commuted(S factor) const { return {factor * rate}; }
  };
  template <class S>
  ALGOPERF_HD Kernel<S> at(Step) const {
    return {static_cast<S>(rate)};
  }
};

}  // namespace algoperf
