#pragma once

#include "../chain/chain.hpp"
#include "../stages/descend.hpp"
#include "../stages/maxva.hpp"
#include "../wrappers/decay.hpp"

namespace algoperf {

struct MAdamOptions {
  double beta1 = 0.9;
  double beta_min = 0.5;
  double beta_max = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
};

// MAdam with decoupled weight decay: Adam whose second moment maximises the estimated variance
// (rules/stages/maxva.hpp).
//   p' = p - lr (madam(g) + weight_decay p)
// Hyperparameters: those of MaxVa; weight_decay >= 0. `decayed` is a predicate on tensors that selects those that
// decay (default: all).
// Source: Zhu et al. 2021, "MaxVA", Algorithm 1 (arXiv:2006.11918).
// Cost: four floats of state, 44 bytes per parameter and step.
inline constexpr auto madam = []<class Where = Otherwise>(MAdamOptions o = {}, const Where& decayed = {}) {
  return chain(MaxVa{.beta1 = o.beta1, .beta_min = o.beta_min, .beta_max = o.beta_max, .eps = o.eps},
               decay(o.weight_decay, decayed), Descend{});
};

}  // namespace algoperf
