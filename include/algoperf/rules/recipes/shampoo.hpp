#pragma once

#include "../chain/chain.hpp"
#include "../matrix/newton_root.hpp"
#include "../matrix/precondition.hpp"
#include "../stages/decayed_weights.hpp"
#include "../stages/descend.hpp"

namespace algoperf {

struct ShampooOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double weight_decay = 0.01;
  double epsilon = 1e-6;
  std::size_t block = 1024;
  std::uint64_t root_frequency = 20;
  std::uint64_t start_step = 20;
  bool staggered = true;
};

// Shampoo, for matrices only: the averaged gradient, multiplied from both sides by inverse roots of its second-moment
// matrices and rescaled to the norm of another rule's direction (the graft, rules/matrix/graft.hpp), with decoupled
// weight decay:
//   p' = p - lr (shampoo(g) + weight_decay p).
// Formula of the direction, ranges, costs and further options: rules/matrix/precondition.hpp. Usage:
//   partition(matrices, shampoo(), otherwise, adamw())
//   partition(matrices, shampoo({.beta2 = 0.99}, GraftRmsProp{.beta2 = 0.99}, NewtonRoot{}), otherwise, adamw())
// EigenRoot, the default, requires #include <algoperf/backend/products/linear_algebra.hpp>.
// Source: Gupta et al. 2018; Distributed Shampoo, Shi et al. 2023.
// Departures: AlgoPerf's form has the momentum after the preconditioner:
//   chain(Precondition<NewtonRoot, GraftRmsPropNormalized>{.beta1 = 0, ...}, DecayedWeights{...},
//         Nesterov{.mu = 0.9, .dampening = 0.9}, Descend{})
inline constexpr auto shampoo =
    []<class Graft = GraftAdam, class Root = EigenRoot>(ShampooOptions o = {}, Graft graft = {}, Root root = {}) {
  return chain(Precondition<Root, Graft>{.beta1 = o.beta1,
                                         .beta2 = o.beta2,
                                         .epsilon = o.epsilon,
                                         .block = o.block,
                                         .root_frequency = o.root_frequency,
                                         .start_step = o.start_step,
                                         .staggered = o.staggered,
                                         .root_method = root,
                                         .graft = graft},
               DecayedWeights{.rate = o.weight_decay}, Descend{});
};

}  // namespace algoperf
