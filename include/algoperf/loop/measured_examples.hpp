// MeasuredExamples: a combiner for one worker that measures how the gradients of single examples vary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "../backend/concept.hpp"
#include "../combine/single_worker.hpp"
#include "../core/gradient_squares.hpp"
#include "../core/require.hpp"
#include "../nn/graph/example_gradients.hpp"

namespace algoperf {

// Steps as SingleWorker. At each step whose number `every` divides, it also measures GradientSquares with single
// examples as the small batch: square_small is the mean of |g_e|^2 over the examples e, square_big is |g|^2 of the
// batch's gradient, and the spread is that of the g_e about g. InnerProductBatch then uses the variances over single
// examples, as AdaBatchGrad (arXiv:2402.05264) defines them; MeasuredSpread estimates them from the gradients of
// workers. An example's weight multiplies g_e, so unequal weights increase the measured variance. Nothing is measured
// at other steps and for a batch of one example; the `patience` of a schedule counts measurements.
// Needs the backend Host or Thrust, which is checked at compile time. Throws Error if `every` is 0, and if there are
// several workers or ranks, batch norm or a ragged axis (ExampleGradients, nn/graph/example_gradients.hpp).
// Cost and memory of a measurement: see ExampleGradients.
struct MeasuredExamples {
  std::uint64_t every = 1;

  static constexpr bool is_combiner = true;
  static constexpr bool measures_gradients = true, measures_spread = true;
  static constexpr std::size_t max_workers = 1;

  template <class Context>
  struct State : SingleWorker::State<Context> {
    std::unique_ptr<ExampleGradients<typename Context::Backend>> examples;
    GradientSquares squares = {};
  };

  template <class Context>
  State<Context> state(const Context& context) const {
    using Backend = typename Context::Backend;
    static_assert(!AsynchronousBackend<Backend>, "algoperf: MeasuredExamples needs the backend Host or Thrust");
    require(every > 0, "MeasuredExamples: every is 0, expected at least 1");
    return {SingleWorker{}.state(context), std::make_unique<ExampleGradients<Backend>>(
                                               context.backend(), context.recorded_model(), context.capacity())};
  }
  template <class Context>
  double advance(Context& context, State<Context>& state) const {
    const auto gradient = [&] { return context.gradient(0, context.values(), context.gradients()); };
    const double loss = gradient();
    state.squares = {};
    if (context.t() % every == 0 && context.examples(0) > 1) state.squares = measured(context, *state.examples);
    context.step(context.gradients(), context.values(), state.rule, gradient);
    return loss;
  }
  template <class Context>
  auto& rule_state(State<Context>& state) const {
    return state.rule;
  }
  // Returns the measurements of the last step; small is 0 if it made none.
  template <class Context>
  const GradientSquares& gradient_squares(const State<Context>& state) const {
    return state.squares;
  }

 private:
  template <class Context, class B>
  static GradientSquares measured(Context& context, ExampleGradients<B>& examples) {
    using S = typename Context::Scalar;
    const S* const g = context.gradients();
    context.bind_fields(examples.executor());
    examples.measure(context.pass_over(0, context.examples(0), context.values(), nullptr), g);
    const double n = static_cast<double>(context.examples(0));
    const double square = context.backend().dot(context.layout().trained_size(), g, g);
    // The loss is a mean, so the gradient of an example's own loss is n times that of its part.
    double squares = 0, along = 0, inner_squares = 0;
    for (const double of_part : examples.squares()) squares += n * n * of_part;
    for (const double of_part : examples.inner_products()) {
      const double inner = n * of_part;
      along += (inner - square) * (inner - square);
      inner_squares += inner * inner;
    }
    const double across = squares - (square > 0 ? inner_squares / square : 0);  // rounding may make it negative
    return {1, squares / n, n, square, GradientSpread{along / (n - 1), across > 0 ? across / (n - 1) : 0}};
  }
};

}  // namespace algoperf
