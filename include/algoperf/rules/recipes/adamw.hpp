#pragma once

#include "../chain/chain.hpp"
#include "../stages/adam.hpp"
#include "../stages/descend.hpp"
#include "../wrappers/decay.hpp"

namespace algoperf {

struct AdamWOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.01;
};

// Adam with decoupled weight decay (Loshchilov & Hutter 2019, Algorithm 2): p' = p - lr (adam(g) + weight_decay p), the
// decay scaled by the learning rate as in torch and optax. Two floats of state, 28 bytes a parameter.
template <class Where = Otherwise>
constexpr auto adamw(AdamWOptions o = {}, const Where& decayed = {}) {
  return chain(Adam{.beta1 = o.beta1, .beta2 = o.beta2, .eps = o.eps}, decay(o.weight_decay, decayed), Descend{});
}

}  // namespace algoperf
