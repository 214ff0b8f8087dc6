#pragma once

#include "../chain/chain.hpp"
#include "../stages/decayed_weights.hpp"
#include "../stages/descend.hpp"
#include "../stages/momentum.hpp"
#include "../stages/nesterov.hpp"

namespace algoperf {

// Options of sgd(). weight_decay >= 0.
struct SgdOptions {
  double weight_decay = 0;  // L2
};
// Stochastic gradient descent: p' = p - lr (g + weight_decay p).
// Source: torch's SGD.
// Cost: no state, 12 bytes per parameter and step.
inline constexpr auto sgd = [](SgdOptions o = {}) { return chain(DecayedWeights{.rate = o.weight_decay}, Descend{}); };

// Options of momentum() and nesterov(). mu in [0, 1); weight_decay >= 0.
struct MomentumOptions {
  double mu = 0.9;
  double weight_decay = 0;  // L2, added before the momentum
};

// SGD with heavy-ball momentum: m' = mu m + g + weight_decay p;  p' = p - lr m'.
// Source: Polyak 1964; torch's SGD(momentum).
// Cost: one float of state, 20 bytes per parameter and step.
inline constexpr auto momentum = [](MomentumOptions o = {}) {
  return chain(DecayedWeights{.rate = o.weight_decay}, Momentum{.mu = o.mu}, Descend{});
};

// SGD with Nesterov momentum: h = g + weight_decay p;  m' = mu m + h;  p' = p - lr (h + mu m').
// Source: Sutskever et al. 2013; torch's SGD(nesterov=True).
// Cost: one float of state, 20 bytes per parameter and step.
inline constexpr auto nesterov = [](MomentumOptions o = {}) {
  return chain(DecayedWeights{.rate = o.weight_decay}, Nesterov{.mu = o.mu}, Descend{});
};

}  // namespace algoperf
