#pragma once

#include "chain.hpp"
#include "stages/adam.hpp"
#include "stages/decayed_weights.hpp"
#include "stages/descend.hpp"
#include "stages/nadam.hpp"

namespace algoperf {

struct AdamWOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.01;
};

// Adam with decoupled weight decay (Loshchilov & Hutter 2019, Algorithm 2): p' = p - lr (adam(g) + weight_decay p), the
// decay scaled by the learning rate as in torch and optax. Two floats of state, 28 bytes a parameter.
constexpr auto adamw(AdamWOptions o = {}) {
  return chain(Adam{.beta1 = o.beta1, .beta2 = o.beta2, .eps = o.eps}, DecayedWeights{.rate = o.weight_decay},
               Descend{});
}

// AdamW with Nesterov momentum, AlgoPerf's form (rules/stages/nadam.hpp). Two floats of state, 28 bytes a parameter.
constexpr auto nadamw(AdamWOptions o = {}) {
  return chain(NAdam{.beta1 = o.beta1, .beta2 = o.beta2, .eps = o.eps}, DecayedWeights{.rate = o.weight_decay},
               Descend{});
}

}  // namespace algoperf
