// What loop/ is about. A TrainingLoop composes a model, a loss, a rule, a schedule and a selector; an Observer watches
// it run and never changes training. An observer has any of
//   begin(run)                                before the first step
//   ready(run) -> Control                     after every begin: a resumed run may have nothing left to do
//   evaluation_due(StepReport) -> bool
//   last_evaluation_due(StepReport) -> bool   asked when the run is to stop, unless it is interrupted
//   evaluate(run) -> EvaluationReport         called if either is (Evaluate has these)
//   metric()                                  what it evaluates by (nn/concept.hpp), for those who ask run.metric()
//   after_evaluation(run, EvaluationReport) -> Control
//   after_step(run, StepReport) -> Control    after the step's evaluations
//   reads_loss(StepReport) -> bool            whether evaluation or after_step reads this step's loss; without it, yes.
//                                             Where nobody does, a device is not waited for, and the loss is NaN
//   end(run, RunReport)                       after the last step, also when a step or a later begin threw
//   visit(archive)                            what must survive a checkpoint, in a section called
//   name                                      by this constant
//   never_stops                               constexpr; true of one that only watches (say false again in a class
//                                             derived from it): a run must have another
// and may ask its run for loop(), data(), report(), metric(source), save(path) and load(path). Observers are called in
// the order given. Those that evaluate are numbered in it, from 0: an EvaluationReport's `source`. The report's `best`
// and what observers do by default is about source 0.
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
template <class O>
concept HasEvaluationDue = requires(O& o, const StepReport& report) {
  { o.evaluation_due(report) } -> std::same_as<bool>;
};
template <class O>
concept HasLastEvaluationDue = requires(O& o, const StepReport& report) {
  { o.last_evaluation_due(report) } -> std::same_as<bool>;
};
template <class O, class Run>
concept HasEvaluate = requires(O& o, Run& run) {
  { o.evaluate(run) } -> std::same_as<EvaluationReport>;
};
template <class O>
concept HasMetric = requires(const O& o) {
  { o.metric().name } -> std::convertible_to<const char*>;
  { o.metric().lower_is_better } -> std::convertible_to<bool>;
};
template <class O, class Run>
concept HasAfterEvaluation = requires(O& o, Run& run, const EvaluationReport& report) {
  { o.after_evaluation(run, report) } -> std::same_as<Control>;
};
template <class O, class Run>
concept HasAfterStep = requires(O& o, Run& run, const StepReport& report) {
  { o.after_step(run, report) } -> std::same_as<Control>;
};
template <class O>
concept HasReadsLoss = requires(O& o, const StepReport& report) {
  { o.reads_loss(report) } -> std::same_as<bool>;
};
template <class O, class Run>
concept HasEnd = requires(O& o, Run& run, const RunReport& report) {
  o.end(run, report);
};
template <class O>
concept NeverStops = requires {
  requires O::never_stops;
};
// May end a run.
template <class O, class Run>
concept HasControl = !NeverStops<O> && (HasReady<O, Run> || HasAfterEvaluation<O, Run> || HasAfterStep<O, Run>);

}  // namespace algoperf::detail
