#pragma once

#include "../../core/math.hpp"
#include "../../core/require.hpp"
#include "../chain/scale.hpp"
#include "decayed_weights.hpp"
#include "recipe.hpp"

namespace algoperf {

// Clips the update by its global norm relative to the norm of the parameters, with both norms over all tensors:
//   u' = u min(1, sqrt(2 c weight_decay / lr) |p| / |u|).
// Followed by DecayedWeights with the same rate and by Descend, it is SIBERT's optimizer for scale-invariant networks.
// In such a network, if c >= 1, no update is clipped once |p| has reached its equilibrium.
// Hyperparameters: c > 0; weight_decay > 0.
// Source: Li et al. 2022 (arXiv:2202.00980), section 4, where sqrt(c) = 2.
// Cost: no state; a pass that reads 8 bytes per parameter.
struct ClipByRelativeNorm {
  double weight_decay = 0.01;
  double c = 4;

  static constexpr Over over = Over::all;
  void check() const {
    require_more_than(0, "ClipByRelativeNorm", "weight_decay", weight_decay);
    require_more_than(0, "ClipByRelativeNorm", "c", c);
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

// The rule SIBERT for scale-invariant networks: SGD with weight decay and relative global clipping,
//   p' = (1 - lr weight_decay) p - lr clip(g).
// Hyperparameters: those of ClipByRelativeNorm; weight_decay is also the rate of the decay.
// Source: Li et al. 2022 (arXiv:2202.00980).
// Cost: no state, 8 + 12 bytes per parameter and step.
inline constexpr auto relative_clipped_sgd =
    []<std::same_as<ClipByRelativeNorm> Options = ClipByRelativeNorm>(Options options = {}) {
  return chain(options, DecayedWeights{.rate = options.weight_decay}, Descend{});
};

}  // namespace algoperf
