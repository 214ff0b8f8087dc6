#pragma once

#include "../../core/math.hpp"
#include "../../core/require.hpp"
#include "../chain/scale.hpp"
#include "recipe.hpp"

namespace algoperf {

// AdaGrad-norm: one adaptive step size for all parameters. u_j is the u of step j, and its norm is taken over all
// tensors:
//   u' = u / (start + sum of |u_j|^2 over the steps before this one)^(1/2 + eps).
// Hyperparameters: start > 0; eps >= 0.
// Source: Ward et al. 2019 (arXiv:1806.01811).
// Departures: the sum excludes the current gradient, as in AdaBatchGrad (arXiv:2402.05264). The stage was checked
// against a port of AdaBatchGrad's code, not against the paper.
// Cost: one scalar of state per chain, `sum`; a pass that reads 4 bytes per parameter.
struct AdagradNorm {
  double start = 1;
  double eps = 0;

  struct Scalars {
    double before = 0, sum = 0;
    template <class Archive>
    void visit(Archive& archive) {
      archive.number("sum", sum);
    }
  };
  static constexpr Over over = Over::all;
  void check() const {
    require_more_than(0, "AdagradNorm", "start", start);
    require_at_least(0, "AdagradNorm", "eps", eps);
  }

  template <class T>
  ALGOPERF_HD Sums<T, 1> measure(T u, T) const {
    return {{u * u}};
  }
  void advance(Step, const Sums<double, 1>& squares, Scalars& scalars) const {
    scalars.before = scalars.sum;
    scalars.sum += squares[0];
  }
  template <class S>
  ALGOPERF_HD Scale<S> at(Step, const Sums<double, 1>&, TensorFacts, const Scalars& scalars) const {
    return {static_cast<S>(math::exp(-(0.5 + eps) * math::log(start + scalars.before)))};
  }
};

// The rule AdaGrad-norm, chain(AdagradNorm{...}, Descend{}), which is SGD with the AdaGrad-norm step size:
//   p' = p - lr g / sqrt(start + sum of |g_j|^2 over earlier steps).
// Hyperparameters and source: those of AdagradNorm.
// Cost: one scalar of state, 4 + 12 bytes per parameter and step.
inline constexpr auto adagrad_norm = []<std::same_as<AdagradNorm> Options = AdagradNorm>(Options options = {}) {
  return chain(options, Descend{});
};

}  // namespace algoperf
