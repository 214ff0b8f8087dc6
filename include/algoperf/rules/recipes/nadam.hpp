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

// Adam with Nesterov momentum as torch.optim.NAdam has it: p' = p - lr nadam(g). Two floats of state, 28 bytes a
// parameter.
constexpr auto nadam(NAdamOptions o = {}) {
  return chain(NAdam{.beta1 = o.beta1,
                     .beta2 = o.beta2,
                     .eps = o.eps,
                     .form = NAdamForm::torch,
                     .momentum_decay = o.momentum_decay},
               Descend{});
}

// AdamW with Nesterov momentum, AlgoPerf's form (stages/nadam.hpp has optax's and torch's): p' = p - lr (nadam(g) +
// weight_decay p). Two floats of state, 28 bytes a parameter.
template <class Where = Otherwise>
constexpr auto nadamw(AdamWOptions o = {}, const Where& decayed = {}) {
  return chain(NAdam{.beta1 = o.beta1, .beta2 = o.beta2, .eps = o.eps}, decay(o.weight_decay, decayed), Descend{});
}

}  // namespace algoperf
