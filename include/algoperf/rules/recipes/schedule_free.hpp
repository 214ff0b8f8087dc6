#pragma once

#include "../chain/chain.hpp"
#include "../stages/rmsprop.hpp"
#include "../stages/schedule_free.hpp"
#include "../wrappers/decay.hpp"

namespace algoperf {

struct ScheduleFreeOptions {
  double beta = 0.9;  // of the interpolation between z and the average
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  double r = 0;
  double lr_power = 2;
};

// Schedule-free SGD (Defazio et al. 2024, Algorithm 1, arXiv:2405.15682); the decay is taken at y. Evaluate with
// evaluation_values. One float of state, 20 bytes a parameter.
template <class Where = Otherwise>
constexpr auto schedule_free_sgd(ScheduleFreeOptions o = {}, const Where& decayed = {}) {
  return chain(decay(o.weight_decay, decayed), ScheduleFree{.beta = o.beta, .r = o.r, .lr_power = o.lr_power});
}

// Schedule-free AdamW: RMSProp's direction, corrected for bias, in place of the gradient. Two floats of state, 28 bytes
// a parameter.
template <class Where = Otherwise>
constexpr auto schedule_free_adamw(ScheduleFreeOptions o = {}, const Where& decayed = {}) {
  return chain(RmsProp{.rho = o.beta2, .eps = o.eps, .bias_correction = BiasCorrection::on},
               decay(o.weight_decay, decayed), ScheduleFree{.beta = o.beta, .r = o.r, .lr_power = o.lr_power});
}

}  // namespace algoperf
