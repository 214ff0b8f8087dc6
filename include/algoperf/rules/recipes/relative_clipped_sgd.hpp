#pragma once

#include "../chain/chain.hpp"
#include "../stages/clip_by_relative_norm.hpp"
#include "../stages/decayed_weights.hpp"
#include "../stages/descend.hpp"

namespace algoperf {

// SIBERT's optimizer for scale-invariant networks (Li et al. 2022, arXiv:2202.00980): SGD with weight decay and
// relative global clipping, p' = (1 - lr weight_decay) p - lr clip(g). No state, 8 + 12 bytes a parameter.
constexpr auto relative_clipped_sgd(ClipByRelativeNorm options = {}) {
  return chain(options, DecayedWeights{.rate = options.weight_decay}, Descend{});
}

}  // namespace algoperf
