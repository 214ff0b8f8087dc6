#pragma once

#include "../chain/chain.hpp"
#include "../stages/adam.hpp"
#include "../stages/descend.hpp"
#include "../stages/trust_ratio.hpp"
#include "../wrappers/decay.hpp"

namespace algoperf {

struct LambOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-6;
  double weight_decay = 0.01;
};

// LAMB, with bias correction as in optax's lamb. Per tensor:
//   u = adam(g) + weight_decay p;  p' = p - lr |p| / |u| u.
// Hyperparameters: those of Adam (rules/stages/adam.hpp); weight_decay >= 0. `decayed` is a predicate on tensors that
// selects those that decay (default: all).
// Source: You et al. 2020, Algorithm 2 (arXiv:1904.00962).
// Cost: two floats of state; two passes, 28 + 12 bytes per parameter and step.
//
// Published variants are chains of the same stages:
//   without bias correction (the paper's third version)   Adam{.bias_correction = BiasCorrection::off}
//   bounded ratio (DeepSpeed)                             TrustRatio{.least = 0.01, .most = 10}
//   decay outside the norm (Keras)                        chain(Adam{}, TrustRatio{}, DecayedWeights{}, Descend{})
//   no ratio for tensors without decay (apex)             masked(TrustRatio{}, decayable), with masked decay
//   clipped gradients first (apex)                        chain(ClipByGlobalNorm{}, Adam{}, ...), 4 bytes more
inline constexpr auto lamb = []<class Where = Otherwise>(LambOptions o = {}, const Where& decayed = {}) {
  return chain(Adam{.beta1 = o.beta1, .beta2 = o.beta2, .eps = o.eps}, decay(o.weight_decay, decayed), TrustRatio{},
               Descend{});
};

}  // namespace algoperf
