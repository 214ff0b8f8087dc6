#pragma once

#include "../chain/chain.hpp"
#include "../stages/rmsprop.hpp"
#include "../stages/schedule_free.hpp"
#include "../wrappers/decay.hpp"

namespace algoperf {

struct ScheduleFreeOptions {
  double beta = 0.9;  // interpolation weight of the average x; that of z is 1 - beta
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  double r = 0;
  double lr_power = 2;
};

// Schedule-free SGD (formula: rules/stages/schedule_free.hpp), with the direction u = g + weight_decay y. Use
// evaluation_values to evaluate.
// Hyperparameters: those of ScheduleFree; weight_decay >= 0; beta2 and eps are not used. `decayed` is a predicate on
// tensors that selects those that decay (default: all).
// Source: Defazio et al. 2024, Algorithm 1 (arXiv:2405.15682).
// Cost: one float of state, 20 bytes per parameter and step.
inline constexpr auto schedule_free_sgd =
    []<class Where = Otherwise>(ScheduleFreeOptions o = {}, const Where& decayed = {}) {
  return chain(decay(o.weight_decay, decayed), ScheduleFree{.beta = o.beta, .r = o.r, .lr_power = o.lr_power});
};

// Schedule-free AdamW: as schedule_free_sgd, with u = rmsprop(g) + weight_decay y, where rmsprop is the bias-corrected
// direction of RMSProp. Use evaluation_values to evaluate.
// Hyperparameters: those of ScheduleFree; beta2 in [0, 1); eps > 0; weight_decay >= 0. `decayed` is a predicate on
// tensors that selects those that decay (default: all).
// Source: Defazio et al. 2024 (arXiv:2405.15682).
// Cost: two floats of state, 28 bytes per parameter and step.
inline constexpr auto schedule_free_adamw =
    []<class Where = Otherwise>(ScheduleFreeOptions o = {}, const Where& decayed = {}) {
  return chain(RmsProp{.rho = o.beta2, .eps = o.eps, .bias_correction = BiasCorrection::on},
               decay(o.weight_decay, decayed), ScheduleFree{.beta = o.beta, .r = o.r, .lr_power = o.lr_power});
};

}  // namespace algoperf
