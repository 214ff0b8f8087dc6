#pragma once

#include "../../core/math.hpp"
#include "../../core/require.hpp"
#include "../chain/scale.hpp"
#include "decayed_weights.hpp"
#include "recipe.hpp"

namespace algoperf {

// Relative global clipping: u' = u min(1, sqrt(2 c weight_decay / lr) |p| / |u|), the norms over all tensors. Before
// DecayedWeights of the same rate and Descend it is the optimizer of SIBERT, for scale-invariant networks, where it
// never clips at the equilibrium of |p| for c >= 1. c > 0, weight_decay > 0. Li et al. 2022 (arXiv:2202.00980), section
// 4; sqrt(c) = 2 there. Cost: a pass that reads 8 bytes a parameter.
struct ClipByRelativeNorm {
  double weight_decay = 0.01;
  double c = 4;

  static constexpr Over over = Over::all;
  void check() const {
    require(weight_decay > 0, "ClipByRelativeNorm: weight_decay is ", weight_decay, ", expected more than 0");
    require(c > 0, "ClipByRelativeNorm: c is ", c, ", expected more than 0");
  }

  template <class T>
  ALGOPERF_HD Sums<T, 2> measure(T u, T p) const {
    return {{p * p, u * u}};
  }
  template <class S>
  ALGOPERF_HD Scale<S> at(Step step, const Sums<double, 2>& squares, TensorFacts) const {
    const double most = math::sqrt(2 * c * weight_decay * squares[0]),
                 norm = math::sqrt(step.learning_rate * squares[1]);
    return {static_cast<S>(norm > most ? most / norm : 1)};
  }
};

// SIBERT's optimizer for scale-invariant networks (Li et al. 2022, arXiv:2202.00980): SGD with weight decay and
// relative global clipping, p' = (1 - lr weight_decay) p - lr clip(g). No state, 8 + 12 bytes a parameter.
template <std::same_as<ClipByRelativeNorm> Options = ClipByRelativeNorm>
constexpr auto relative_clipped_sgd(Options options = {}) {
  return chain(options, DecayedWeights{.rate = options.weight_decay}, Descend{});
}

}  // namespace algoperf
