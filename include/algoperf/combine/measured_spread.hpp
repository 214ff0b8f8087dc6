#pragma once

#include <cstddef>
#include <vector>

#include "measured_mean.hpp"

namespace algoperf {

// MeasuredMean that also measures the GradientSpread of the workers' gradients: how they vary along their mean and
// orthogonally to it, which InnerProductBatch needs. With one example per worker, these are the variances over examples
// that the inner product and orthogonality tests use. With m examples per worker, they are m times smaller in
// expectation. They are estimated from W samples.
// Cost in addition to MeasuredMean: W gradients of memory; reads and writes 16 bytes per parameter for each
// worker.
struct MeasuredSpread : MeasuredMean {
  static constexpr bool measures_spread = true;

  template <class Context>
  struct State : MeasuredMean::State<Context> {
    std::vector<typename Context::Array> of_workers;
  };

  template <class Context>
  State<Context> state(const Context& context) const {
    State<Context> state{MeasuredMean::state(context), {}};
    for (std::size_t w = 0; w < context.workers(); ++w)
      state.of_workers.push_back(context.backend().template array<typename Context::Scalar>(context.layout().size()));
    return state;
  }

  template <class Context>
  double advance(Context& context, State<Context>& state) const {
    using S = typename Context::Scalar;
    const std::size_t n = context.layout().trained_size();
    const double loss = measured_gradient(context, state, [&](std::size_t worker, const S* gradient) {
      context.backend().copy(n, gradient, state.of_workers[worker].data());
    });
    if (state.squares.small > 0) state.squares.spread = spread_of(context, state);
    Mean::step(context, state);
    return loss;
  }

 private:
  struct Sums {
    double workers = 0, along = 0, inner_squares = 0;
  };

  template <class Context>
  static GradientSpread spread_of(Context& context, State<Context>& state) {
    using S = typename Context::Scalar;
    const double square = state.squares.square_big;
    Sums sums;
    for (std::size_t w = 0; w < context.workers(); ++w) {
      if (context.examples(w) == 0) continue;
      const double inner =
          context.backend().dot(context.layout().trained_size(), static_cast<const S*>(state.of_workers[w].data()),
                                static_cast<const S*>(context.gradients()));
      sums.along += (inner - square) * (inner - square);
      sums.inner_squares += inner * inner;
      ++sums.workers;
    }
    if (!context.ranks().alone()) {
      Sums all;
      for (const Sums& each : context.ranks().all_gather(sums)) {
        all.workers += each.workers;
        all.along += each.along;
        all.inner_squares += each.inner_squares;
      }
      sums = all;
    }
    // The sum of |g_w|^2 - (g_w . g)^2 / |g|^2, which rounding may make negative.
    const double across = sums.workers * state.squares.square_small - (square > 0 ? sums.inner_squares / square : 0);
    return {sums.along / (sums.workers - 1), across > 0 ? across / (sums.workers - 1) : 0};
  }
};

}  // namespace algoperf
