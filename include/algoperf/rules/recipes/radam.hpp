#pragma once

#include "../chain/chain.hpp"
#include "../stages/descend.hpp"
#include "../stages/radam.hpp"
#include "../wrappers/decay.hpp"

namespace algoperf {

struct RAdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
};

// Rectified Adam with decoupled weight decay: p' = p - lr (radam(g) + weight_decay p).
// Hyperparameters: those of RAdam (rules/stages/radam.hpp); weight_decay >= 0. `decayed` is a predicate on tensors
// that selects those that decay (default: all).
// Source: Liu et al. 2020, Algorithm 2; torch.optim.RAdam with decoupled_weight_decay=True.
// Cost: two floats of state, 28 bytes per parameter and step.
inline constexpr auto radam = []<class Where = Otherwise>(RAdamOptions o = {}, const Where& decayed = {}) {
  return chain(RAdam{.beta1 = o.beta1, .beta2 = o.beta2, .eps = o.eps}, decay(o.weight_decay, decayed), Descend{});
};

}  // namespace algoperf
