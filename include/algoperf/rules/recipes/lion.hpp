#pragma once

#include "../chain/chain.hpp"
#include "../stages/descend.hpp"
#include "../stages/lion.hpp"
#include "../wrappers/decay.hpp"

namespace algoperf {

struct LionOptions {
  double beta1 = 0.9;
  double beta2 = 0.99;
  double weight_decay = 0.01;
};

// Lion with decoupled weight decay: p' = p - lr (sign(b1 m + (1 - b1) g) + weight_decay p);  m' = b2 m + (1 - b2) g.
// Hyperparameters: beta1, beta2 in [0, 1); weight_decay >= 0. `decayed` is a predicate on tensors that selects those
// that decay (default: all).
// Source: Chen et al. 2023, Algorithm 2 (arXiv:2302.06675).
// Cost: one float of state, 20 bytes per parameter and step.
inline constexpr auto lion = []<class Where = Otherwise>(LionOptions o = {}, const Where& decayed = {}) {
  return chain(Lion{.beta1 = o.beta1, .beta2 = o.beta2}, decay(o.weight_decay, decayed), Descend{});
};

}  // namespace algoperf
