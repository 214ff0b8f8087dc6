// scheduled(stage, &Stage::field, schedule): the stage, with its hyperparameter `field` set to schedule(t - 1)
// at step t.
//   chain(Adam{}, scheduled(DecayedWeights{}, &DecayedWeights::rate, Linear{.from = 0.1, .to = 0, .steps = 1000}),
//   Descend{})
// For two fields, write scheduled(scheduled(stage, ...), ...). With a mask, write masked(scheduled(stage, ...), where).
#pragma once

#include "../../core/evaluated.hpp"
#include "../../core/options.hpp"
#include "../../schedules/concept.hpp"
#include "../concept.hpp"

namespace algoperf {

// The stage itself, except that its kernel at a step is that of now(step).
template <class Stage, class Schedule>
struct Scheduled : Stage {
  using Wrapped = Stage;
  double Stage::*field;
  Schedule schedule;

  constexpr Scheduled(const Stage& stage, double Stage::*f, const Schedule& s) : Stage(stage), field(f), schedule(s) {}

  template <class F>
  void visit_options(F& f) const {
    detail::visit_options(static_cast<const Stage&>(*this), f);
    detail::visit_options(schedule, f);
  }
  // Returns the stage with the schedule's value at a step.
  Stage now(Step step) const {
    Stage stage = *this;
    stage.*field = static_cast<double>(schedule(step.t - 1));
    return stage;
  }
  // Checks the schedule's options, and the stage with the schedule's first value.
  void check() const {
    detail::check_schedule(schedule);
    const Stage first = now(Step{.t = 1});
    if constexpr (requires { first.check(); }) first.check();
  }

  template <class S>
  auto at(Step step) const requires detail::is_element<Stage> &&(!detail::HasScalars<Stage>) {
    if constexpr (detail::HasAt<Stage>)
      return now(step).template at<S>(step);
    else
      return now(step);
  }
  template <class S>
  auto at(Step step, const detail::ScalarsOf<Stage>& scalars)
      const requires detail::is_element<Stage> && detail::HasScalars<Stage> {
    return now(step).template at<S>(step, scalars);
  }
  template <class... SumsAndScalars>
  void advance(Step step, SumsAndScalars&&... rest) const requires detail::HasScalars<Stage> {
    now(step).advance(step, rest...);
  }
  template <class Backend>
  auto state(const Backend& backend, const auto& layout, const auto& region) const requires detail::is_matrix<Stage> {
    return now(Step{.t = 1}).state(backend, layout, region);
  }
  template <class Backend, class MatrixState>
  void transform(const MatrixWork<Backend>& work, MatrixState& state) const requires detail::is_matrix<Stage> {
    now(work.step).transform(work, state);
  }
};

namespace detail {

template <class Stage, class Field, class Schedule>
consteval bool explain_scheduled() {
  explain_stage<Stage>();
  if constexpr (std::is_class_v<Stage>) {
    static_assert(std::is_convertible_v<Field, double Stage::*>,
                  "algoperf: scheduled(stage, field, schedule) needs the address of one of the stage's hyperparameters "
                  "of type double, e.g. &DecayedWeights::rate");
    static_assert(!HasMask<Stage>,
                  "algoperf: a masked stage cannot be scheduled: write masked(scheduled(stage, ...), where)");
    static_assert(!HasEvaluation<Stage>,
                  "algoperf: a stage that gives evaluation values, such as WeightAverage, cannot be scheduled");
  }
  static_assert(
      !Reacts<Schedule, Evaluated>,
      "algoperf: scheduled(...) receives no evaluation reports, so a schedule that reacts to them, such as Plateau, "
      "would keep its first value: use it as the TrainingLoop's schedule");
  return explain_schedule<Schedule>();
}

}  // namespace detail

template <class Stage, class Field, class Schedule>
constexpr auto scheduled(Stage stage, Field field, Schedule schedule) {
  if constexpr (detail::explain_scheduled<Stage, Field, Schedule>())
    return Scheduled<Stage, Schedule>(stage, field, schedule);
}

}  // namespace algoperf
