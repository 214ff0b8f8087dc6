#pragma once

#include "../chain/chain.hpp"
#include "../stages/decayed_weights.hpp"
#include "../stages/descend.hpp"
#include "../stages/momentum.hpp"
#include "../stages/nesterov.hpp"

namespace algoperf {

// Stochastic gradient descent: p' = p - lr (g + weight_decay p). torch's SGD. No state; 12 bytes a parameter.
struct SgdOptions {
  double weight_decay = 0;  // L2
};
constexpr auto sgd(SgdOptions o = {}) { return chain(DecayedWeights{.rate = o.weight_decay}, Descend{}); }

struct MomentumOptions {
  double mu = 0.9;
  double weight_decay = 0;  // L2, added before the momentum
};

// SGD with heavy-ball momentum: m' = mu m + g + weight_decay p;  p' = p - lr m'. torch's SGD(momentum). One float of
// state, 20 bytes a parameter.
constexpr auto momentum(MomentumOptions o = {}) {
  return chain(DecayedWeights{.rate = o.weight_decay}, Momentum{.mu = o.mu}, Descend{});
}

// SGD with Nesterov momentum: h = g + weight_decay p;  m' = mu m + h;  p' = p - lr (h + mu m'). torch's
// SGD(nesterov=True). One float of state, 20 bytes a parameter.
constexpr auto nesterov(MomentumOptions o = {}) {
  return chain(DecayedWeights{.rate = o.weight_decay}, Nesterov{.mu = o.mu}, Descend{});
}

}  // namespace algoperf
