// Adafactor (Shazeer & Stern 2018, arXiv:1804.04235) in the forms of three libraries. For an m x n matrix it stores
// m + n values, where Adam stores 2 m n. With u = g / sqrt(V) (rules/stages/factored_rms.hpp),
// clip(u) = u / max(1, rms(u) / d) and scale(p) = max(1e-3, rms(p)), each per tensor:
//
//   adafactor            p' = p - lr scale(p) clip(u) - weight_decay p                         optax
//   adafactor_torch      p' = p - min(lr, 1 / sqrt(t)) scale(p) clip(u) - lr weight_decay p    torch.optim
//   adafactor_algoperf   m' = beta1 m + (1 - beta1) lr clip(u);  p' = p - m' - lr weight_decay p
//
// The paper's algorithm is adafactor_torch at lr 0.01, except for how it uses eps. Other forms of optax are chains:
//   chain(FactoredRms{}, ClipByRms{}, Descend{})                                  multiply_by_parameter_scale=False
//   chain(FactoredRms{}, fuse_measurements(ClipByRms{}, ScaleByParameterRms{}), Descend{},
//         Momentum{.mu = 0.9, .dampening = 0.9})                                  momentum=0.9
// The three rules accept tensors of any rank, so they need no partition. In all three, weight_decay >= 0, and
// `decayed` is a predicate on tensors that selects those that decay (default: all).
#pragma once

#include "../chain/chain.hpp"
#include "../stages/clip_by_rms.hpp"
#include "../stages/descend.hpp"
#include "../stages/detached_decay.hpp"
#include "../stages/factored_rms.hpp"
#include "../stages/momentum.hpp"
#include "../stages/relative_step.hpp"
#include "../stages/scale_by_parameter_rms.hpp"
#include "../wrappers/decay.hpp"
#include "../wrappers/fuse_measurements.hpp"

namespace algoperf {

struct AdafactorOptions {
  double decay_rate = 0.8;
  double eps = 1e-30;
  double clipping_threshold = 1;
  double least_scale = 1e-3;
  double weight_decay = 0;
  std::size_t min_dim_size_to_factor = 128;
};

// optax.adafactor. Steps are proportional to the RMS of the parameters. The decay is not scaled by the learning rate.
// Hyperparameters: decay_rate in (0, 1]; eps > 0; clipping_threshold > 0 (d); least_scale > 0 (the 1e-3 above);
// min_dim_size_to_factor, the smallest side of a factored matrix.
// Cost: m + n values of state per factored m x n matrix, one value per parameter of other tensors; 24 bytes per
// parameter and step, in three passes.
inline constexpr auto adafactor = []<class Where = Otherwise>(AdafactorOptions o = {}, const Where& decayed = {}) {
  return chain(
      FactoredRms{.decay = o.decay_rate, .eps = o.eps, .least_side = o.min_dim_size_to_factor},
      fuse_measurements(ClipByRms{.max_rms = o.clipping_threshold}, ScaleByParameterRms{.least = o.least_scale}),
      Descend{},
      detail::masked_unless_everywhere(DetachedDecay{.rate = o.weight_decay, .by = DecayBy::itself}, decayed));
};

struct AdafactorTorchOptions {
  double beta2_decay = -0.8;
  double eps1 = 0;  // 0: the scalar's machine epsilon; None in torch
  double eps2 = 1e-3;
  double d = 1;
  double weight_decay = 0;
};

// torch.optim.Adafactor. Steps are proportional to the RMS of the parameters. The learning rate is limited to
// 1 / sqrt(t), except for the decay. Every matrix is factored.
// Hyperparameters: beta2_decay in [-1, 0); eps1 >= 0; eps2 > 0 (the 1e-3 above); d > 0.
// Cost: as adafactor.
inline constexpr auto adafactor_torch =
    []<class Where = Otherwise>(AdafactorTorchOptions o = {}, const Where& decayed = {}) {
  return chain(FactoredRms{.decay = -o.beta2_decay, .eps = o.eps1, .eps_at = RmsEps::least, .least_side = 1},
               fuse_measurements(ClipByRms{.max_rms = o.d}, ScaleByParameterRms{.least = o.eps2}), RelativeStep{},
               decay(o.weight_decay, decayed), Descend{});
};

struct AdafactorAlgoperfOptions {
  double beta1 = 0.9;
  double decay_adam = 0.99;
  double eps = 1e-30;
  double clip_threshold = 1;
  double weight_decay = 0;
};

// The Adafactor of AlgoPerf's paper baselines (Dahl et al. 2023): bias-corrected averages as in Adam, momentum of the
// scaled update, and steps that do not depend on the size of the parameters. Every matrix is factored.
// Hyperparameters: beta1 in [0, 1); decay_adam in (0, 1); eps > 0; clip_threshold > 0 (d).
// Cost: as adafactor, plus one float of state per parameter; 28 bytes per parameter and step, in three passes.
inline constexpr auto adafactor_algoperf =
    []<class Where = Otherwise>(AdafactorAlgoperfOptions o = {}, const Where& decayed = {}) {
  return chain(FactoredRms{.decay = o.decay_adam, .memory = RmsMemory::debiased, .eps = o.eps, .least_side = 1},
               ClipByRms{.max_rms = o.clip_threshold}, Descend{}, Momentum{.mu = o.beta1, .dampening = o.beta1},
               detail::masked_unless_everywhere(DetachedDecay{.rate = o.weight_decay}, decayed));
};

}  // namespace algoperf
