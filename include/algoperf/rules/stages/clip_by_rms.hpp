#pragma once

#include "../../core/math.hpp"
#include "../../core/require.hpp"
#include "../chain/scale.hpp"

namespace algoperf {

// Clips the update of each tensor by its root mean square: u' = u / max(1, rms(u) / max_rms).
// Hyperparameters: max_rms > 0.
// Source: the update clipping of Shazeer & Stern 2018, section 6 (arXiv:1804.04235), where max_rms is d; optax's
// clip_by_block_rms.
// Cost: no state. The stage ends a pass, which measures rms(u).
struct ClipByRms {
  double max_rms = 1;

  static constexpr Over over = Over::tensor;
  void check() const { require_more_than(0, "ClipByRms", "max_rms", max_rms); }

  template <class T>
  ALGOPERF_HD Sums<T, 1> measure(T u, T) const {
    return {{u * u}};
  }
  template <class S>
  ALGOPERF_HD Scale<S> at(Step, const Sums<double, 1>& squares, TensorFacts tensor) const {
    const double rms = math::sqrt(squares[0] / static_cast<double>(tensor.size));
    return {static_cast<S>(rms > max_rms ? max_rms / rms : 1)};
  }
};

}  // namespace algoperf
