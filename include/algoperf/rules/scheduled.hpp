// scheduled(stage, &Stage::field, schedule): a hyperparameter that follows a schedule of its own, asked for t - 1.
//   chain(Adam{}, scheduled(DecayedWeights{}, &DecayedWeights::rate, Linear{.from = 0.1, .to = 0, .steps = 1000}),
//   Descend{})
#pragma once

#include "concept.hpp"

namespace algoperf {

// Is the stage in all but what it becomes at a step.
template <class Stage, class Schedule>
struct Scheduled : Stage {
  using Wrapped = Stage;
  double Stage::*field;
  Schedule schedule;

  constexpr Scheduled(const Stage& stage, double Stage::*f, const Schedule& s) : Stage(stage), field(f), schedule(s) {}

  template <class S>
  auto at(Step step) const requires detail::is_element<Stage> {
    return now(step).template at<S>(step);
  }
  template <class S, class SumsOfStage>
  auto at(Step step, const SumsOfStage& sums, const TensorFacts& facts) const requires detail::is_measuring<Stage> {
    return now(step).template at<S>(step, sums, facts);
  }

 private:
  Stage now(Step step) const {
    Stage stage = *this;
    stage.*field = schedule(step.t - 1);
    return stage;
  }
};

template <class Stage, class Schedule>
constexpr auto scheduled(const Stage& stage, double Stage::*field, const Schedule& schedule) {
  static_assert(
      requires { static_cast<double>(schedule(std::uint64_t{0})); },
      "algoperf: scheduled(stage, field, schedule) needs a schedule: `double schedule(std::uint64_t step)`");
  if constexpr (detail::explain_stage<Stage>()) return Scheduled<Stage, Schedule>(stage, field, schedule);
}

}  // namespace algoperf
