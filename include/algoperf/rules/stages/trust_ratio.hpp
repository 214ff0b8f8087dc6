#pragma once

#include "../../core/math.hpp"
#include "../../core/require.hpp"
#include "../chain/scale.hpp"

namespace algoperf {

// The layer-wise trust ratio of LAMB and LARS. Per tensor:
//   u' = r u,  r = coefficient |p| / (|u| + eps), clamped to [least, most], or r = 1 if |p| or |u| is zero.
// Hyperparameters: coefficient > 0; eps >= 0; 0 <= least <= most.
// Source: You et al. 2017 (LARS, arXiv:1708.03888) and 2020 (LAMB, Algorithm 2, arXiv:1904.00962); optax's
// scale_by_trust_ratio.
// Departures: the LAMB paper clamps |p| (its function phi) before the division. Here, as in DeepSpeed, r is clamped.
// Cost: no state. The stage ends a pass, which measures both norms.
struct TrustRatio {
  double coefficient = 1;
  double eps = 0;
  double least = 0;
  double most = __builtin_inf();

  static constexpr Over over = Over::tensor;
  void check() const {
    require_more_than(0, "TrustRatio", "coefficient", coefficient);
    require_at_least(0, "TrustRatio", "eps", eps);
    require(least >= 0 && least <= most && least <= __DBL_MAX__, "TrustRatio: least is ", least,
            ", expected [0, most]");
  }

  template <class T>
  ALGOPERF_HD Sums<T, 2> measure(T u, T p) const {
    return {{p * p, u * u}};
  }
  template <class S>
  ALGOPERF_HD Scale<S> at(Step, const Sums<double, 2>& squares, TensorFacts) const {
    if (!(squares[0] > 0 && squares[1] > 0)) return {1};
    const double ratio = coefficient * math::sqrt(squares[0]) / (math::sqrt(squares[1]) + eps);
    return {static_cast<S>(math::min(most, math::max(least, ratio)))};
  }
};

}  // namespace algoperf
