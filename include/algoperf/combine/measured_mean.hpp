#pragma once

#include "../core/gradient_squares.hpp"
#include "../core/require.hpp"
#include "mean.hpp"

namespace algoperf {

// Mean that also measures |g_B|^2 of the mean gradient, over a selection of B examples, and the mean of the workers'
// |g_w|^2, which is |g_b|^2 with b the harmonic mean of the workers' numbers of examples. A TrainingLoop passes these
// to a selector with gradient feedback, scheduled_batch(..., NoiseScaleBatch{}). Needs at least two workers. If fewer
// than two workers have examples in a selection, nothing is measured. Example weights other than 1 count as noise.
// Cost in addition to Mean: reads 4 bytes per parameter for each worker's gradient and for the mean gradient.
// McCandlish et al. 2018 (arXiv:1812.06162), appendix A.1.
struct MeasuredMean {
  static constexpr bool is_combiner = true, over_ranks = true;
  static constexpr bool measures_gradients = true;

  template <class Context>
  struct State : Mean::State<Context> {
    GradientSquares squares;
  };

  template <class Context>
  State<Context> state(const Context& context) const {
    const std::size_t workers = context.workers() * context.ranks().size();
    require(workers >= 2, "MeasuredMean: there is ", workers, " worker, expected at least 2: InProcess{.workers = 2}");
    return {Mean{}.state(context), {}};
  }

  template <class Context>
  double advance(Context& context, State<Context>& state) const {
    const double loss = measured_gradient(context, state, [](std::size_t, const typename Context::Scalar*) {});
    Mean::step(context, state);
    return loss;
  }
  template <class Context>
  auto& rule_state(State<Context>& state) const {
    return state.rule;
  }
  // Returns the measurements of the last step.
  template <class Context>
  const GradientSquares& gradient_squares(const State<Context>& state) const {
    return state.squares;
  }

 protected:
  // As Mean::gradient, and measures.
  template <class Context, class See>
  static double measured_gradient(Context& context, State<Context>& state, const See& see) {
    using S = typename Context::Scalar;
    const std::size_t n = context.layout().trained_size();
    const auto square = [&](const S* g) { return context.backend().dot(n, g, g); };
    Sums sums;
    const double loss = Mean::gradient(context, state, [&](std::size_t worker, const S* gradient) {
      see(worker, gradient);
      if (context.examples(worker) == 0) return;
      sums.squares += square(gradient);
      sums.inverses += 1 / static_cast<double>(context.examples(worker));
      sums.examples += static_cast<double>(context.examples(worker));
      ++sums.workers;
    });
    if (!context.ranks().alone()) {
      Sums all;
      for (const Sums& each : context.ranks().all_gather(sums)) all.add(each);
      sums = all;
    }
    state.squares = {};
    if (sums.workers >= 2)
      state.squares = {
          sums.workers / sums.inverses, sums.squares / sums.workers, sums.examples, square(context.gradients()), {}};
    return loss;
  }

 private:
  // Over the workers that have examples.
  struct Sums {
    double workers = 0, examples = 0, inverses = 0, squares = 0;
    void add(const Sums& other) {
      workers += other.workers;
      examples += other.examples;
      inverses += other.inverses;
      squares += other.squares;
    }
  };
};

}  // namespace algoperf
