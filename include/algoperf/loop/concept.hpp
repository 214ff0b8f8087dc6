// What loop/ is about. A TrainingLoop composes a model, a loss, a rule, a schedule and a selector; an Observer watches
// it run and never changes training. An observer has any of
//   begin(run)                                before the first step
//   ready(run) -> Control                     after every begin: a resumed run may have nothing left to do
//   evaluation_due(StepReport) -> bool
//   evaluate(run) -> EvaluationReport         called if due (Evaluate has them)
//   after_evaluation(run, EvaluationReport) -> Control
//   after_step(run, StepReport) -> Control    after the step's evaluations
//   end(run, RunReport)                       after the last step, also when a step or a later begin threw
//   visit(archive)                            what must survive a checkpoint
// and may ask its run for loop(), data(), report(), save(path) and load(path). Observers are called in the order given.
#pragma once

#include <concepts>

#include "report.hpp"

namespace algoperf::detail {

template <class O, class Run>
concept HasBegin = requires(O& o, Run& run) {
  o.begin(run);
};
template <class O, class Run>
concept HasReady = requires(O& o, Run& run) {
  { o.ready(run) } -> std::same_as<Control>;
};
template <class O, class Run>
concept HasAfterStep = requires(O& o, Run& run, const StepReport& report) {
  { o.after_step(run, report) } -> std::same_as<Control>;
};
template <class O, class Run>
concept Evaluates = requires(O& o, Run& run, const StepReport& report) {
  { o.evaluation_due(report) } -> std::same_as<bool>;
  { o.evaluate(run) } -> std::same_as<EvaluationReport>;
};
template <class O, class Run>
concept HasAfterEvaluation = requires(O& o, Run& run, const EvaluationReport& report) {
  { o.after_evaluation(run, report) } -> std::same_as<Control>;
};
template <class O, class Run>
concept HasEnd = requires(O& o, Run& run, const RunReport& report) {
  o.end(run, report);
};

template <class O, class Run>
consteval bool explain_observer() {
  static_assert(
      HasBegin<O, Run> || HasAfterStep<O, Run> || Evaluates<O, Run> || HasAfterEvaluation<O, Run> || HasEnd<O, Run>,
      "algoperf: an observer needs one of begin(run), `Control after_step(run, const StepReport&)`, "
      "`Control after_evaluation(run, const EvaluationReport&)`, end(run, const RunReport&)");
  return true;
}

}  // namespace algoperf::detail
