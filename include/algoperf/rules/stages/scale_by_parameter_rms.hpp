#pragma once

#include "../../core/math.hpp"
#include "../../core/require.hpp"
#include "../chain/scale.hpp"

namespace algoperf {

// Makes steps proportional to the size of the parameters. Per tensor: u' = u max(least, rms(p)).
// Hyperparameters: least > 0; with 0, tensors that start at zero would never change.
// Source: Shazeer & Stern 2018, section 8 (arXiv:1804.04235), where `least` is epsilon_2; optax's
// scale_by_param_block_rms.
// Cost: no state. The stage ends a pass, which measures rms(p). fuse_measurements(ClipByRms{}, ScaleByParameterRms{})
// takes the measurements of both stages in one pass.
struct ScaleByParameterRms {
  double least = 1e-3;

  static constexpr Over over = Over::tensor;
  static constexpr bool measures_parameters_alone = true;
  void check() const { require_more_than(0, "ScaleByParameterRms", "least", least); }

  template <class T>
  ALGOPERF_HD Sums<T, 1> measure(T, T p) const {
    return {{p * p}};
  }
  template <class S>
  ALGOPERF_HD Scale<S> at(Step, const Sums<double, 1>& squares, TensorFacts tensor) const {
    const double rms = math::sqrt(squares[0] / static_cast<double>(tensor.size));
    return {static_cast<S>(math::max(rms, least))};
  }
};

}  // namespace algoperf
