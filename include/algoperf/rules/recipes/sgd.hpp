#pragma once

#include "../chain/chain.hpp"
#include "../stages/decayed_weights.hpp"
#include "../stages/descend.hpp"

namespace algoperf {

// Stochastic gradient descent: p' = p - lr (g + weight_decay p). torch's SGD. No state; 12 bytes a parameter.
struct SgdOptions {
  double weight_decay = 0;  // L2
};
constexpr auto sgd(SgdOptions o = {}) { return chain(DecayedWeights{.rate = o.weight_decay}, Descend{}); }

}  // namespace algoperf
