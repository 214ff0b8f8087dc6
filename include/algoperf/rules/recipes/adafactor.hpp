// Adafactor (Shazeer & Stern 2018, arXiv:1804.04235), which keeps m + n numbers for a matrix of m x n where Adam keeps
// 2 m n, as three libraries have it. With u = g / sqrt(V) (rules/stages/factored_rms.hpp), clip(u) = u / max(1, rms(u)
// / d) and scale(p) = max(1e-3, rms(p)), each per tensor:
//
//   adafactor            p' = p - lr scale(p) clip(u) - weight_decay p                         optax
//   adafactor_torch      p' = p - min(lr, 1 / sqrt(t)) scale(p) clip(u) - lr weight_decay p    torch.optim
//   adafactor_algoperf   m' = beta1 m + (1 - beta1) lr clip(u);  p' = p - m' - lr weight_decay p
//
// The paper is adafactor_torch at lr 0.01, but for where its eps stands. optax's other forms are chains:
//   chain(FactoredRms{}, ClipByRms{}, Descend{})                                  multiply_by_parameter_scale=False
//   chain(FactoredRms{}, fuse_measurements(ClipByRms{}, ScaleByParameterRms{}), Descend{},
//         Momentum{.mu = 0.9, .dampening = 0.9})                                  momentum=0.9
// Any tensor will do, without a partition.
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

// optax.adafactor: relative to the size of the parameters; the decay is not scaled by the learning rate. No float of
// state a parameter of a matrix.
template <class Where = Otherwise>
constexpr auto adafactor(AdafactorOptions o = {}, const Where& decayed = {}) {
  return chain(
      FactoredRms{.decay = o.decay_rate, .eps = o.eps, .least_side = o.min_dim_size_to_factor},
      fuse_measurements(ClipByRms{.max_rms = o.clipping_threshold}, ScaleByParameterRms{.least = o.least_scale}),
      Descend{},
      detail::masked_unless_everywhere(DetachedDecay{.rate = o.weight_decay, .by = DecayBy::itself}, decayed));
}

struct AdafactorTorchOptions {
  double beta2_decay = -0.8;
  double eps1 = 0;  // 0: the scalar's own epsilon, torch's None
  double eps2 = 1e-3;
  double d = 1;
  double weight_decay = 0;
};

// torch.optim.Adafactor: relative to the size of the parameters, by at most 1 / sqrt(t), whatever the rate. Every
// matrix is factored.
template <class Where = Otherwise>
constexpr auto adafactor_torch(AdafactorTorchOptions o = {}, const Where& decayed = {}) {
  return chain(FactoredRms{.decay = -o.beta2_decay, .eps = o.eps1, .eps_at = RmsEps::least, .least_side = 1},
               fuse_measurements(ClipByRms{.max_rms = o.d}, ScaleByParameterRms{.least = o.eps2}), RelativeStep{},
               decay(o.weight_decay, decayed), Descend{});
}

struct AdafactorAlgoperfOptions {
  double beta1 = 0.9;
  double decay_adam = 0.99;
  double eps = 1e-30;
  double clip_threshold = 1;
  double weight_decay = 0;
};

// The Adafactor of AlgoPerf's paper baselines (Dahl et al. 2023): Adam's memory, momentum of the scaled update,
// absolute rates. Every matrix is factored. One float of state a parameter.
template <class Where = Otherwise>
constexpr auto adafactor_algoperf(AdafactorAlgoperfOptions o = {}, const Where& decayed = {}) {
  return chain(FactoredRms{.decay = o.decay_adam, .memory = RmsMemory::debiased, .eps = o.eps, .least_side = 1},
               ClipByRms{.max_rms = o.clip_threshold}, Descend{}, Momentum{.mu = o.beta1, .dampening = o.beta1},
               detail::masked_unless_everywhere(DetachedDecay{.rate = o.weight_decay}, decayed));
}

}  // namespace algoperf
