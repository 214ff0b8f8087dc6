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

// LARS (You et al. 2017, Algorithm 1, arXiv:1708.03888), the learning rate inside the momentum: with u = g +
// weight_decay p and the trust ratio r (1, and no decay, for tensors that `adapted` does not accept: by default it
// accepts all; the usual choice is lars({...}, decayable)),
//   m' = mu m - lr r u;  p' = p + m'.
// r = coefficient |p| / (|u| + eps), optax's denominator. One float of state, 8 + 20 bytes a parameter.
template <class Where = Otherwise>
constexpr auto lars(LarsOptions o = {}, const Where& adapted = {}) {
  const TrustRatio ratio{.coefficient = o.coefficient, .eps = o.eps};
  return chain(decay(o.weight_decay, adapted), detail::masked_unless_everywhere(ratio, adapted), Descend{},
               Momentum{.mu = o.mu});
}

// The same with the paper's and MLPerf's denominator: r = coefficient |p| / (|g| + weight_decay |p| + eps).
template <class Where = Otherwise>
constexpr auto mlperf_lars(LarsOptions o = {}, const Where& adapted = {}) {
  const MlperfTrustRatio ratio{.coefficient = o.coefficient, .weight_decay = o.weight_decay, .eps = o.eps};
  return chain(detail::masked_unless_everywhere(ratio, adapted), Descend{}, Momentum{.mu = o.mu});
}

}  // namespace algoperf
