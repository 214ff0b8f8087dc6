#pragma once

#include "../../core/require.hpp"
#include "../concept.hpp"

namespace algoperf {

// Weight decay: u' = u + rate p. rate >= 0. Before Descend it is decoupled and scaled by the learning rate (AdamW of
// Loshchilov & Hutter 2019 as torch and optax have it); at the head of a chain it is L2 regularisation.
// masked(DecayedWeights{...}, decayable) leaves biases and norms alone. Cost: none, p is read anyway.
// As the last before the update is applied it multiplies p by 1 - learning_rate rate, as torch does; rounded in the
// scalar, so in float a product below 3e-8 decays nothing.
struct DecayedWeights {
  double rate = 0.01;

  void check() const { require(rate >= 0, "DecayedWeights: rate is ", rate, ", expected at least 0"); }

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
