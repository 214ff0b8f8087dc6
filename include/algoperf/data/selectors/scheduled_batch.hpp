#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "../../core/evaluated.hpp"
#include "../../core/gradient_squares.hpp"
#include "../../core/require.hpp"
#include "../../state/archive.hpp"
#include "../concept.hpp"

namespace algoperf {

// The result of scheduled_batch(selector, schedule). `batch` is the maximum size of a selection.
template <class Selector, class Schedule>
struct ScheduledBatch {
  Selector selector;
  Schedule schedule;
  std::size_t batch;
  std::uint64_t seed = 0;  // the selector's seed

  struct State {
    typename Selector::State selector;
    Schedule schedule;  // a copy, which stores the measurements that it observes

    template <class Archive>
    void visit(Archive& archive) {
      selector.visit(archive);
      if constexpr (requires { schedule.visit(archive); }) visit_scoped(archive, "batch_schedule", schedule);
    }
  };

  State state(std::size_t size) const {
    if constexpr (requires { schedule.check(); }) schedule.check();
    return {of(batch).state(size), schedule};
  }

  std::string warning(std::size_t size) const requires requires(const Selector& s) { s.warning(size); }
  { return of(batch).warning(size); }

  void select(State& state, Step step, Selection& selection) const {
    const double n = __builtin_floor(static_cast<double>(state.schedule(step.t - 1)) + 0.5);
    require(n >= 1 && n <= static_cast<double>(batch), "scheduled_batch: the batch of step ", step.t, " is ", n,
            ", expected 1 to ", batch);
    of(static_cast<std::size_t>(n)).select(state.selector, step, selection);
  }

  template <class Losses>
  void feedback(State& state, const Selection& selection, const Losses& losses) const {
    if constexpr (requires { selector.feedback(state.selector, selection, losses); })
      selector.feedback(state.selector, selection, losses);
  }

  // A schedule that observes gradients needs a combiner that measures them, such as MeasuredMean.
  static constexpr bool has_gradient_feedback = requires(Schedule & s, const GradientSquares& squares) {
    s.observe(squares);
  };
  static constexpr bool needs_spread = requires { requires Schedule::observes_spread; };
  void gradient_feedback(State& state, const GradientSquares& found) const requires has_gradient_feedback {
    const GradientSpread spread = found.spread.value_or(GradientSpread{});
    const bool finite = (found.square_small + found.square_big + spread.along + spread.across) * 0 == 0;
    if (finite && found.small > 0 && found.big > found.small) state.schedule.observe(found);
  }

 private:
  Selector of(std::size_t n) const {
    Selector sized = selector;
    sized.batch = n;
    return sized;
  }
};

// Returns a selector whose batch size follows a schedule: before update i it selects schedule(i) examples, as
// `selector` would with that batch size.
//   scheduled_batch(ShuffledEpochs{.seed = 1}, GrowingBatch{.first = 128, .most = 4096})
//   scheduled_batch(ShuffledEpochs{.seed = 1}, NoiseScaleBatch{.least = 64, .most = 4096})   with MeasuredMean{}
//   scheduled_batch(ShuffledEpochs{.seed = 1}, InnerProductBatch{.least = 64, .most = 4096}) with MeasuredExamples{}
// The maximum batch, for which a loop allocates memory, is schedule.most if it exists, otherwise (a join, a lambda)
// selector.batch. The schedule's value is rounded; select() throws Error if the result is outside [1, maximum].
template <class Selector, class Schedule>
constexpr auto scheduled_batch(const Selector& selector, const Schedule& schedule) {
  static_assert(
      requires { static_cast<double>(schedule(std::uint64_t{})); },
      "algoperf: scheduled_batch(selector, schedule) needs a schedule, a callable of the step, as second argument");
  static_assert(
      !requires(Schedule & s, const detail::Evaluated& found) { s.feedback(found); },
      "algoperf: scheduled_batch(...) receives no evaluations, so a schedule that reacts to them, such as Plateau, "
      "would keep its initial value");
  std::size_t largest = selector.batch;
  std::uint64_t seed = 0;
  if constexpr (requires { schedule.most; }) largest = static_cast<std::size_t>(schedule.most);
  if constexpr (requires { selector.seed; }) seed = selector.seed;
  return ScheduledBatch<Selector, Schedule>{selector, schedule, largest, seed};
}

}  // namespace algoperf
