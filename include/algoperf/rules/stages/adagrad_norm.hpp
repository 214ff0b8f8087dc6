#pragma once

#include "../../core/math.hpp"
#include "../../core/require.hpp"
#include "../chain/scale.hpp"
#include "recipe.hpp"

namespace algoperf {

// AdaGrad-norm, one rate for all: u' = u / (start + sum of |u_j|^2 over the steps before this one)^(1/2 + eps), the
// norm over all tensors. start > 0, eps >= 0. Ward et al. 2019 (arXiv:1806.01811); without the present gradient in the
// sum as AdaBatchGrad has it (arXiv:2402.05264; checked against a port of its code, not the paper). State: one scalar,
// `sum`. Cost: a pass that reads 4 bytes a parameter.
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
    require(start > 0, "AdagradNorm: start is ", start, ", expected more than 0");
    require(eps >= 0, "AdagradNorm: eps is ", eps, ", expected at least 0");
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

// The recipe chain(AdagradNorm{...}, Descend{}): SGD with the AdaGrad-norm step,
// p' = p - lr g / sqrt(start + sum of |g_j|^2 before). One scalar of state, 4 + 12 bytes a parameter.
template <std::same_as<AdagradNorm> Options = AdagradNorm>
constexpr auto adagrad_norm(Options options = {}) {
  return chain(options, Descend{});
}

}  // namespace algoperf
