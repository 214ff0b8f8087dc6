#pragma once

#include "../chain/chain.hpp"
#include "../stages/descend.hpp"
#include "../stages/mlperf_trust_ratio.hpp"
#include "../stages/momentum.hpp"
#include "../stages/trust_ratio.hpp"
#include "../wrappers/decay.hpp"

namespace algoperf {

struct LarsOptions {
  double mu = 0.9;
  double weight_decay = 0;
  double coefficient = 0.001;
  double eps = 0;
};

// LARS, with the learning rate applied before the momentum. With u = g + weight_decay p:
//   m' = mu m - lr r u;  p' = p + m';  r = coefficient |p| / (|u| + eps).
// Tensors that the predicate `adapted` rejects have r = 1 and no decay. By default it accepts all tensors; the usual
// choice is lars({...}, decayable).
// Hyperparameters: mu in [0, 1); weight_decay >= 0; coefficient > 0; eps >= 0.
// Source: You et al. 2017, Algorithm 1 (arXiv:1708.03888).
// Departures: the denominator of r is optax's. mlperf_lars has the paper's.
// Cost: one float of state, 8 + 20 bytes per parameter and step.
inline constexpr auto lars = []<class Where = Otherwise>(LarsOptions o = {}, const Where& adapted = {}) {
  const TrustRatio ratio{.coefficient = o.coefficient, .eps = o.eps};
  return chain(decay(o.weight_decay, adapted), detail::masked_unless_everywhere(ratio, adapted), Descend{},
               Momentum{.mu = o.mu});
};

// LARS as above, with the denominator of the paper and of MLPerf:
//   r = coefficient |p| / (|g| + weight_decay |p| + eps).
inline constexpr auto mlperf_lars = []<class Where = Otherwise>(LarsOptions o = {}, const Where& adapted = {}) {
  const MlperfTrustRatio ratio{.coefficient = o.coefficient, .weight_decay = o.weight_decay, .eps = o.eps};
  return chain(detail::masked_unless_everywhere(ratio, adapted), Descend{}, Momentum{.mu = o.mu});
};

}  // namespace algoperf
