#pragma once

#include "../chain/chain.hpp"
#include "../stages/decayed_weights.hpp"
#include "../stages/descend.hpp"
#include "../stages/nesterov.hpp"
#include "../stages/orthogonalize.hpp"

namespace algoperf {

struct MuonOptions {
  double mu = 0.95;
  double weight_decay = 0.1;
  int steps = 5;
  NewtonSchulzSteps coefficients = newton_schulz::simple;
  OrthogonalScale scale = OrthogonalScale::original;
};

// Muon (Jordan et al. 2024), for matrices only: Nesterov momentum in its averaging form, orthogonalised, with decoupled
// decay; torch's Muon but for the arithmetic (rules/stages/orthogonalize.hpp). One float of state.
//   partition(matrices, muon(), otherwise, adamw())
//   muon({.steps = 8, .coefficients = newton_schulz::polar_express, .scale = OrthogonalScale::match_rms})
constexpr auto muon(MuonOptions o = {}) {
  return chain(Nesterov{.mu = o.mu, .dampening = o.mu},
               Orthogonalize{.steps = o.steps, .coefficients = o.coefficients, .scale = o.scale},
               DecayedWeights{.rate = o.weight_decay}, Descend{});
}

}  // namespace algoperf
