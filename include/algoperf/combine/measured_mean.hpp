#pragma once

#include "../core/require.hpp"
#include "mean.hpp"

namespace algoperf {

// |g|^2 of gradients over batches of two sizes, small < big examples: what tells a gradient's noise from the gradient
// (schedules/noise_scale.hpp). Nothing is known where small is 0.
struct GradientSquares {
  double small = 0, square_small = 0, big = 0, square_big = 0;
};

// Mean, which also measures: |g_B|^2 of the mean gradient, over a selection of B examples, and the mean of the workers'
// |g_w|^2, which is |g_b|^2 for b the harmonic mean of the numbers of their examples. A TrainingLoop tells a selector
// that listens, scheduled_batch(..., NoiseScaleBatch{}). Two workers at least; where a selection leaves fewer than two
// any examples, nothing is known. Example weights other than 1 count as noise.
// Cost above Mean's: 4 bytes a parameter for each worker, and for the mean.
// McCandlish et al. 2018 (arXiv:1812.06162), appendix A.1.
struct MeasuredMean {
  static constexpr bool is_combiner = true;
  static constexpr bool measures_gradients = true;

  template <class Context>
  struct State : Mean::State<Context> {
    GradientSquares squares;
  };

  template <class Context>
  State<Context> state(const Context& context) const {
    require(context.workers() >= 2, "MeasuredMean: there is ", context.workers(),
            " worker, expected at least 2: InProcess{.workers = 2}");
    return {Mean{}.state(context), {}};
  }

  template <class Context>
  double advance(Context& context, State<Context>& state) const {
    using S = typename Context::Scalar;
    const std::size_t n = context.layout().trained_size();
    const auto square = [&](const S* g) { return context.backend().dot(n, g, g); };
    double squares = 0, inverses = 0, workers = 0;
    const double loss = Mean::gradient(context, state, [&](std::size_t worker, const S* gradient) {
      if (context.examples(worker) == 0) return;
      squares += square(gradient);
      inverses += 1 / static_cast<double>(context.examples(worker));
      ++workers;
    });
    state.squares = {};
    if (workers >= 2) {
      double examples = 0;
      for (std::size_t w = 0; w < context.workers(); ++w) examples += static_cast<double>(context.examples(w));
      state.squares = {workers / inverses, squares / workers, examples, square(context.gradients())};
    }
    Mean::step(context, state);
    return loss;
  }
  template <class Context>
  auto& rule_state(State<Context>& state) const {
    return state.rule;
  }
  // Of the last step.
  template <class Context>
  const GradientSquares& gradient_squares(const State<Context>& state) const {
    return state.squares;
  }
};

}  // namespace algoperf
