#pragma once

#include "chain.hpp"
#include "stages/adam.hpp"
#include "stages/decayed_weights.hpp"
#include "stages/descend.hpp"
#include "stages/trust_ratio.hpp"

namespace algoperf {

struct LambOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-6;
  double weight_decay = 0.01;
};

// LAMB (You et al. 2020, Algorithm 2, arXiv:1904.00962): u = adam(g) + weight_decay p;  p' = p - lr |p| / |u| u, per
// tensor; bias-corrected, as optax's lamb. Two floats of state; two passes, 28 + 12 bytes a parameter.
constexpr auto lamb(LambOptions o = {}) {
  return chain(Adam{.beta1 = o.beta1, .beta2 = o.beta2, .eps = o.eps}, DecayedWeights{.rate = o.weight_decay},
               TrustRatio{}, Descend{});
}

}  // namespace algoperf
