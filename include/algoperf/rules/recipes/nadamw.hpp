#pragma once

#include "../stages/nadam.hpp"
#include "adamw.hpp"

namespace algoperf {

// AdamW with Nesterov momentum, AlgoPerf's form (stages/nadam.hpp has optax's and torch's): p' = p - lr (nadam(g) +
// weight_decay p). Two floats of state, 28 bytes a parameter.
template <class Where = Otherwise>
constexpr auto nadamw(AdamWOptions o = {}, const Where& decayed = {}) {
  return chain(NAdam{.beta1 = o.beta1, .beta2 = o.beta2, .eps = o.eps}, decay(o.weight_decay, decayed), Descend{});
}

}  // namespace algoperf
