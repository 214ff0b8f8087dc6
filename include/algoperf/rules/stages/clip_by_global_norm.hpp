#pragma once

#include "../../core/math.hpp"
#include "../../core/require.hpp"
#include "../chain/scale.hpp"

namespace algoperf {

// Clips the update by its global norm, |u|, taken over all tensors of the rule (in a partition, over those of the
// part):
//   u' = u min(1, max_norm / (|u| + eps)).
// Hyperparameters: max_norm > 0; eps >= 0.
// Source: Pascanu et al. 2013, Algorithm 1. eps = 0 is optax's clip_by_global_norm; eps = 1e-6 is torch's
// clip_grad_norm_.
// Cost: no state. As the first stage of a chain, one pass that reads 4 bytes per parameter. The scaling is fused into
// the following stages.
struct ClipByGlobalNorm {
  double max_norm = 1;
  double eps = 0;

  static constexpr Over over = Over::all;
  void check() const {
    require_more_than(0, "ClipByGlobalNorm", "max_norm", max_norm);
    require_at_least(0, "ClipByGlobalNorm", "eps", eps);
  }

  template <class T>
  ALGOPERF_HD Sums<T, 1> measure(T u, T) const {
    return {{u * u}};
  }
  template <class S>
  ALGOPERF_HD Scale<S> at(Step, const Sums<double, 1>& squares, TensorFacts) const {
    const double norm = math::sqrt(squares[0]) + eps;
    return {static_cast<S>(norm > max_norm ? max_norm / norm : 1)};
  }
};

}  // namespace algoperf
