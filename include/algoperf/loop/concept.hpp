// The concepts of loop/. A TrainingLoop composes a model, a loss, a rule, a schedule and a selector. An Observer
// watches a run, may stop it, and does not change the training. All members of an observer are optional, but it needs
// at least one of begin, ready, after_evaluation, after_step, end, or evaluation_due together with evaluate:
//   begin(run)                                before the first step
//   ready(run) -> Control                     after every begin; can stop a resumed run that is already complete
//   evaluation_due(StepReport) -> bool        whether to evaluate after this step
//   last_evaluation_due(StepReport) -> bool   whether to evaluate when the run stops; not called if it is interrupted
//   evaluate(run) -> EvaluationReport         called if either of these returns true (the observer Evaluate has all
//                                             three)
//   metric()                                  the metric it evaluates (nn/concept.hpp), returned by run.metric(source)
//   after_evaluation(run, EvaluationReport) -> Control
//   after_step(run, StepReport) -> Control    called after the step's evaluations
//   reads_loss(StepReport) -> bool            whether an evaluation or after_step reads the loss of this step; without
//                                             this member, after_step is assumed to read it. If no observer reads the
//                                             loss, the host does not wait for the device, and the report's loss is
//                                             empty
//   end(run, RunReport)                       after the last step; also if a step or a later observer's begin threw
//   visit(archive)                            saves or loads the observer's state in a checkpoint
//   name                                      constant; the name of the checkpoint's section for visit
//   never_stops                               constexpr; true if the observer never stops a run (a derived class that
//                                             does must set it to false). A run needs an observer that can stop it
//   root_only                                 constexpr; true if only rank 0 of a group of ranks calls the observer,
//                                             because it writes a file or to the terminal
// A function of a const StepReport& is an observer that has only after_step, a function of a const EvaluationReport&
// one that has only after_evaluation; it returns void or Control.
// The run offers loop(), data(), report(), metric(source), save(path) and load(path). Observers are called in the order
// given. Those that evaluate are numbered from 0 in this order; the number is EvaluationReport::source. The report's
// `best`, and by default the library's observers, use source 0.
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
template <class O>
concept IsRootOnly = requires {
  requires O::root_only;
};
// An observer that may end a run.
template <class O, class Run>
concept HasControl = !NeverStops<O> && (HasReady<O, Run> || HasAfterEvaluation<O, Run> || HasAfterStep<O, Run>);

}  // namespace algoperf::detail
