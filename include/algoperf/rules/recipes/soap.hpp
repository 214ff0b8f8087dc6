#pragma once

#include "../chain/chain.hpp"
#include "../matrix/eigenbasis_adam.hpp"
#include "../stages/decayed_weights.hpp"
#include "../stages/descend.hpp"

namespace algoperf {

struct SoapOptions {
  double beta1 = 0.95;
  double beta2 = 0.95;
  double shampoo_beta = -1;
  double eps = 1e-8;
  double weight_decay = 0.01;
  std::uint64_t frequency = 10;
  std::size_t largest_side = 10000;
  bool staggered = true;
};

// SOAP, for matrices only: Adam in the eigenbases of Shampoo's second-moment matrices, with decoupled weight decay:
//   p' = p - lr (soap(g) + weight_decay p).
// The first step only computes the bases; its direction is 0. Formula of the direction, ranges, costs and departures:
// rules/matrix/eigenbasis_adam.hpp.
// Usage; requires #include <algoperf/backend/products/linear_algebra.hpp>:
//   partition(matrices, soap(), otherwise, adamw())
// Source: Vyas et al. 2024.
inline constexpr auto soap = [](SoapOptions o = {}) {
  return chain(EigenbasisAdam{.beta1 = o.beta1,
                              .beta2 = o.beta2,
                              .shampoo_beta = o.shampoo_beta,
                              .eps = o.eps,
                              .frequency = o.frequency,
                              .largest_side = o.largest_side,
                              .staggered = o.staggered},
               DecayedWeights{.rate = o.weight_decay}, Descend{});
};

}  // namespace algoperf
