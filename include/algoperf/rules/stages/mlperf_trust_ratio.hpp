#pragma once

#include "../../core/math.hpp"
#include "../../core/require.hpp"
#include "../concept.hpp"

namespace algoperf {

// The trust ratio of LARS with the denominator of its paper and of MLPerf's ResNet-50, which adds the norms of the
// gradient and of the decay. Per tensor:
//   u' = r (u + weight_decay p),  r = coefficient |p| / (|u| + weight_decay |p| + eps), or 1 if |p| or |u| is zero.
// The stage includes weight decay. A tensor excluded by masked(...), such as a bias, keeps its plain gradient.
// Hyperparameters: coefficient > 0; weight_decay >= 0; eps >= 0.
// Source: You et al. 2017, Algorithm 1 (arXiv:1708.03888); lars_optimizer of MLPerf training.
// Cost: no state; a pass of 8 bytes per parameter, which measures both norms.
struct MlperfTrustRatio {
  double coefficient = 0.001;
  double weight_decay = 0;
  double eps = 0;

  static constexpr Over over = Over::tensor;
  void check() const {
    require_more_than(0, "MlperfTrustRatio", "coefficient", coefficient);
    require_at_least(0, "MlperfTrustRatio", "weight_decay", weight_decay);
    require_at_least(0, "MlperfTrustRatio", "eps", eps);
  }

  template <class S>
  struct Kernel {
    static constexpr std::size_t slots = 0;
    S of_u = 0, of_p = 0;
    template <class T>
    ALGOPERF_HD T operator()(T u, T p, Slots<T, 0>&) const {
      return of_u * u + of_p * p;
    }
    ALGOPERF_HD Kernel scaled(S factor) const { return {factor * of_u, factor * of_p}; }
  };
  template <class T>
  ALGOPERF_HD Sums<T, 2> measure(T u, T p) const {
    return {{p * p, u * u}};
  }
  template <class S>
  ALGOPERF_HD Kernel<S> at(Step, const Sums<double, 2>& squares, TensorFacts) const {
    const double weights = math::sqrt(squares[0]), gradients = math::sqrt(squares[1]);
    const bool both = weights > 0 && gradients > 0;
    const double ratio = both ? coefficient * weights / (gradients + weight_decay * weights + eps) : 1;
    return {static_cast<S>(ratio), static_cast<S>(ratio * weight_decay)};
  }
};

}  // namespace algoperf
