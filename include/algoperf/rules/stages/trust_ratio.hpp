#pragma once

#include "../../core/math.hpp"
#include "../scale.hpp"

namespace algoperf {

// LAMB's layer-wise trust ratio: u' = u |p| / |u| per tensor, and u where either norm is zero.
// You et al. 2020, Algorithm 2 with phi the identity (arXiv:1904.00962); as optax's scale_by_trust_ratio.
// Cost: closes a pass, in which both norms are measured.
struct TrustRatio {
  static constexpr Over over = Over::tensor;

  template <class T>
  ALGOPERF_HD Sums<T, 2> measure(T u, T p) const {
    return {{p * p, u * u}};
  }
  template <class S>
  Scale<S> at(Step, const Sums<double, 2>& squares, TensorFacts) const {
    const bool both = squares[0] > 0 && squares[1] > 0;
    return {static_cast<S>(both ? math::sqrt(squares[0] / squares[1]) : 1)};
  }
};

}  // namespace algoperf
