#pragma once

#include "../chain/chain.hpp"
#include "../stages/adam.hpp"
#include "../stages/descend.hpp"
#include "../wrappers/decay.hpp"

namespace algoperf {

struct AdamWOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.01;
};

// AdamW, Adam with decoupled weight decay: p' = p - lr (adam(g) + weight_decay p).
// Hyperparameters: those of Adam (rules/stages/adam.hpp); weight_decay >= 0. `decayed` is a predicate on tensors that
// selects those that decay (default: all).
// Source: Loshchilov & Hutter 2019, Algorithm 2.
// Departures: the decay is scaled by the learning rate, as in torch and optax.
// Cost: two floats of state, 28 bytes per parameter and step.
inline constexpr auto adamw = []<class Where = Otherwise>(AdamWOptions o = {}, const Where& decayed = {}) {
  return chain(Adam{.beta1 = o.beta1, .beta2 = o.beta2, .eps = o.eps}, decay(o.weight_decay, decayed), Descend{});
};

}  // namespace algoperf
