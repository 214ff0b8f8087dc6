#pragma once

#include "../chain/chain.hpp"
#include "../stages/lamaxva.hpp"
#include "../wrappers/decay.hpp"

namespace algoperf {

struct LaMAdamOptions {
  double beta1 = 0.9;
  double beta_min = 0.5;
  double beta_max = 0.98;
  double eps = 1e-15;
  double weight_decay = 0;  // L2, added to the gradient
};

// LaMAdam: momentum of the gradient divided by the root of its maximum-variance second moment s. With h = g +
// weight_decay p:
//   m' = b1 m + (1 - b1) lr h / (sqrt(s') + eps);  c' = b1 c + (1 - b1) lr;  p' = p - (lr / c') m'.
// Hyperparameters: those of LaMaxVa (rules/stages/lamaxva.hpp); weight_decay >= 0. `decayed` is a predicate on tensors
// that selects those that decay (default: all).
// Source: Zhu et al. 2021, "MaxVA", Algorithm 2 (arXiv:2006.11918).
// Cost: four floats of state, 44 bytes per parameter and step.
inline constexpr auto lamadam = []<class Where = Otherwise>(LaMAdamOptions o = {}, const Where& decayed = {}) {
  return chain(decay(o.weight_decay, decayed),
               LaMaxVa{.beta1 = o.beta1, .beta_min = o.beta_min, .beta_max = o.beta_max, .eps = o.eps});
};

}  // namespace algoperf
