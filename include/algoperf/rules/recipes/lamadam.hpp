#pragma once

#include "../chain/chain.hpp"
#include "../stages/lamaxva.hpp"
#include "../wrappers/decay.hpp"

namespace algoperf {

struct LaMAdamOptions {
  double beta1 = 0.9;
  double beta_min = 0.5;
  double beta_max = 0.98;
  double eps = 1e-15;
  double weight_decay = 0;  // L2
};

// LaMAdam (Zhu et al. 2021, "MaxVA", Algorithm 2, arXiv:2006.11918): momentum after the division. Four floats of state,
// 44 bytes a parameter.
template <class Where = Otherwise>
constexpr auto lamadam(LaMAdamOptions o = {}, const Where& decayed = {}) {
  return chain(decay(o.weight_decay, decayed),
               LaMaxVa{.beta1 = o.beta1, .beta_min = o.beta_min, .beta_max = o.beta_max, .eps = o.eps});
}

}  // namespace algoperf
