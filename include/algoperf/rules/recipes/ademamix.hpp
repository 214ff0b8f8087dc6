#pragma once

#include "../chain/chain.hpp"
#include "../stages/ademamix.hpp"
#include "../stages/descend.hpp"
#include "../wrappers/decay.hpp"

namespace algoperf {

struct AdEmaMixOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double beta3 = 0.9999;
  double alpha = 5;
  double eps = 1e-8;
  std::uint64_t warmup = 0;  // steps during which alpha and beta3 rise
  double weight_decay = 0;
};

// AdEMAMix with decoupled weight decay: p' = p - lr (ademamix(g) + weight_decay p).
// Hyperparameters: those of AdEmaMix (rules/stages/ademamix.hpp); weight_decay >= 0. `decayed` is a predicate on
// tensors that selects those that decay (default: all).
// Source: Pagliardini et al. 2024, Algorithm 1 (arXiv:2409.03137).
// Cost: three floats of state, 36 bytes per parameter and step.
inline constexpr auto ademamix = []<class Where = Otherwise>(AdEmaMixOptions o = {}, const Where& decayed = {}) {
  const AdEmaMix direction{
      .beta1 = o.beta1, .beta2 = o.beta2, .beta3 = o.beta3, .alpha = o.alpha, .eps = o.eps, .warmup = o.warmup};
  return chain(direction, decay(o.weight_decay, decayed), Descend{});
};

}  // namespace algoperf
