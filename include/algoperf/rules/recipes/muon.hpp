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
  Precision precision = Precision::fp32;
};

// Muon, for matrices only: orthogonalised Nesterov momentum in its averaging form, with decoupled weight decay.
//   m' = mu m + (1 - mu) g;  p' = p - lr (orthogonalize((1 - mu) g + mu m') + weight_decay p)
// Usage:
//   partition(matrices, muon(), otherwise, adamw())
//   muon({.steps = 8, .coefficients = newton_schulz::polar_express, .scale = OrthogonalScale::match_rms})
//   muon({.precision = Precision::bf16})  // iterates in bfloat16, as the original does
// Hyperparameters: mu in [0, 1); weight_decay >= 0; steps, coefficients, scale and precision as in Orthogonalize.
// Source: Jordan et al. 2024; torch.optim.Muon.
// Departures: by default, computes in the backend's scalar, where torch and the original code use bfloat16. The
// original code divides by |u|_F + eps, torch and this rule by max(|u|_F, eps) (rules/stages/orthogonalize.hpp).
// Cost: one float of state, 28 bytes per parameter and step in two passes, and the matrix products of Orthogonalize.
inline constexpr auto muon = [](MuonOptions o = {}) {
  return chain(
      Nesterov{.mu = o.mu, .dampening = o.mu},
      Orthogonalize{.steps = o.steps, .coefficients = o.coefficients, .scale = o.scale, .precision = o.precision},
      DecayedWeights{.rate = o.weight_decay}, Descend{});
};

}  // namespace algoperf
