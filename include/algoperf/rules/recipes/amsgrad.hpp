#pragma once

#include "../chain/chain.hpp"
#include "../stages/amsgrad.hpp"
#include "../stages/descend.hpp"
#include "../wrappers/decay.hpp"

namespace algoperf {

struct AmsGradOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
};

// AMSGrad with decoupled weight decay: p' = p - lr (amsgrad(g) + weight_decay p).
// Hyperparameters: those of AmsGrad (rules/stages/amsgrad.hpp); weight_decay >= 0. `decayed` is a predicate on
// tensors that selects those that decay (default: all).
// Source: Reddi et al. 2018; torch.optim.AdamW(amsgrad=True).
// Cost: three floats of state, 36 bytes per parameter and step.
inline constexpr auto amsgrad = []<class Where = Otherwise>(AmsGradOptions o = {}, const Where& decayed = {}) {
  return chain(AmsGrad{.beta1 = o.beta1, .beta2 = o.beta2, .eps = o.eps}, decay(o.weight_decay, decayed), Descend{});
};

}  // namespace algoperf
