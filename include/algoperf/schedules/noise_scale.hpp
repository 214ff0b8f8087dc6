#pragma once

#include <optional>

#include "../core/require.hpp"
#include "concept.hpp"

namespace algoperf {

// The gradient noise scale tr(Sigma) / |G|^2, in examples, where G is the gradient and Sigma the covariance of one
// example's gradient. Gradients of batches well below it are mostly noise; batches well above it mostly waste examples.
// At a batch of this size, a run takes twice the minimum number of steps and twice the minimum number of examples. The
// scale is estimated from |g|^2 of gradients over batches of two sizes b < B, without bias:
//   |G|^2 ~ (B |g_B|^2 - b |g_b|^2) / (B - b),   tr(Sigma) ~ (|g_b|^2 - |g_B|^2) / (1 / b - 1 / B)
// Each of the two is averaged separately, as an exponential moving average that weights the past by `decay`, in [0, 1).
// The estimate is the quotient of the averages (an average of quotients would be biased).
// McCandlish et al. 2018 (arXiv:1812.06162), appendix A. With W workers of b examples each, |g_b|^2 is the mean of
// their squared norms, g_B the mean of their gradients, and B = W b: the combiner MeasuredMean measures both.
struct NoiseScale {
  double decay = 0.99;

  // The internal state; leave it out of `NoiseScale{...}`. The averages begin at 0, and `weight` is the sum of the
  // weights of their observations.
  struct State {
    double square = 0, trace = 0, weight = 0;
  } state = {};

  void check() const { require(decay >= 0 && decay < 1, "NoiseScale: decay is ", decay, ", expected [0, 1)"); }

  // Adds one observation: square_small is |g_b|^2 with b = small examples, square_big is |g_B|^2 with B = big examples.
  void observe(double small, double square_small, double big, double square_big) {
    require(small > 0 && big > small, "NoiseScale: the batches are ", small, " and ", big,
            " examples, expected 0 < small < big");
    require(detail::is_finite(square_small) && detail::is_finite(square_big), "NoiseScale: the squared norms are ",
            square_small, " and ", square_big, ", expected finite numbers");
    const double square = (big * square_big - small * square_small) / (big - small);
    const double trace = (square_small - square_big) / (1 / small - 1 / big);
    state.square = decay * state.square + (1 - decay) * square;
    state.trace = decay * state.trace + (1 - decay) * trace;
    state.weight = decay * state.weight + (1 - decay);
  }

  bool known() const { return state.weight > 0; }
  double gradient_square() const { return state.square / state.weight; }  // |G|^2
  double trace() const { return state.trace / state.weight; }             // tr(Sigma)

  // Returns the estimate: 0 if tr(Sigma) is not positive, otherwise infinity if |G|^2 is not positive (the estimates of
  // both can be negative), nothing before the first observation.
  std::optional<double> value() const {
    if (!known()) return std::nullopt;
    if (!(state.trace > 0)) return 0;
    return state.square > 0 ? state.trace / state.square : __builtin_inf();
  }

  template <class Archive>
  void visit(Archive& archive) {
    archive.number("square", state.square);
    archive.number("trace", state.trace);
    archive.number("weight", state.weight);
  }
};

}  // namespace algoperf
