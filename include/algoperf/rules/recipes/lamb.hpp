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

// LAMB (You et al. 2020, Algorithm 2, arXiv:1904.00962): u = adam(g) + weight_decay p;  p' = p - lr |p| / |u| u, per
// tensor; bias-corrected, as optax's lamb. Two floats of state; two passes, 28 + 12 bytes a parameter.
//
// The variants in use are chains of the same stages:
//   without bias correction (the paper's third version)   Adam{.bias_correction = BiasCorrection::off}
//   bounded ratio (DeepSpeed)                             TrustRatio{.least = 0.01, .most = 10}
//   decay outside the norm (Keras)                        chain(Adam{}, TrustRatio{}, DecayedWeights{}, Descend{})
//   no ratio for what does not decay (apex)               masked(TrustRatio{}, decayable), with masked decay
//   clipped gradients first (apex)                        chain(ClipByGlobalNorm{}, Adam{}, ...), 4 bytes more
template <class Where = Otherwise>
constexpr auto lamb(LambOptions o = {}, const Where& decayed = {}) {
  return chain(Adam{.beta1 = o.beta1, .beta2 = o.beta2, .eps = o.eps}, decay(o.weight_decay, decayed), TrustRatio{},
               Descend{});
}

}  // namespace algoperf
