#pragma once

#include "../chain/chain.hpp"
#include "../stages/descend.hpp"
#include "../stages/nadam.hpp"
#include "../wrappers/decay.hpp"
#include "adamw.hpp"

namespace algoperf {

struct NAdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double momentum_decay = 4e-3;
};

// NAdam, Adam with Nesterov momentum, in the form of torch.optim.NAdam: p' = p - lr nadam(g).
// Hyperparameters: those of NAdam (rules/stages/nadam.hpp).
// Source: Dozat 2016; torch.optim.NAdam.
// Cost: two floats of state and one scalar, 28 bytes per parameter and step.
inline constexpr auto nadam = [](NAdamOptions o = {}) {
  return chain(NAdam{.beta1 = o.beta1,
                     .beta2 = o.beta2,
                     .eps = o.eps,
                     .form = NAdamForm::torch,
                     .momentum_decay = o.momentum_decay},
               Descend{});
};

// NadamW, AdamW with Nesterov momentum, in AlgoPerf's form: p' = p - lr (nadam(g) + weight_decay p). NAdamForm in
// rules/stages/nadam.hpp selects optax's and torch's forms.
// Hyperparameters: those of NAdam; weight_decay >= 0. `decayed` is a predicate on tensors that selects those that
// decay (default: all).
// Source: AlgoPerf's NadamW baseline.
// Cost: two floats of state, 28 bytes per parameter and step.
inline constexpr auto nadamw = []<class Where = Otherwise>(AdamWOptions o = {}, const Where& decayed = {}) {
  return chain(NAdam{.beta1 = o.beta1, .beta2 = o.beta2, .eps = o.eps}, decay(o.weight_decay, decayed), Descend{});
};

}  // namespace algoperf
