// run_trial: trains a workload with a submission until the target or the end of a budget, and records everything that
// a score needs.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "../backend/host.hpp"
#include "../loop/observers/until.hpp"
#include "../loop/stopwatch.hpp"
#include "../loop/training_loop.hpp"
#include "submission.hpp"

namespace algoperf {

struct TrialOptions {
  std::uint64_t seed = 0;                                    // of parameters and data order
  std::uint64_t steps = 0;                                   // budget; 0: the step hint of the workload
  double seconds = std::numeric_limits<double>::infinity();  // budget of training time
  double budget_factor = 1;                                  // multiplies both budgets
  double step_hint_factor = 1;       // multiplies the step hint that the submission gets, but not the budget
  std::uint64_t evaluate_every = 0;  // steps; 0: a 25th of the step hint
  bool stop_at_target = true;
  unsigned threads = 1;

  void check() const {
    require(seconds > 0, "TrialOptions: seconds is ", seconds, ", expected more than 0");
    require(budget_factor > 0 && std::isfinite(budget_factor), "TrialOptions: budget_factor is ", budget_factor,
            ", expected a finite number above 0");
    require(step_hint_factor > 0 && std::isfinite(step_hint_factor), "TrialOptions: step_hint_factor is ",
            step_hint_factor, ", expected a finite number above 0");
    require(threads >= 1, "TrialOptions: threads is 0, expected at least 1");
  }
};

// An evaluation and the work that training had done before it.
struct TrialEvaluation : EvaluationReport {
  std::uint64_t examples = 0;
  double flops = 0;
};

struct TrialResult {
  std::vector<TrialEvaluation> evaluations;  // on validation data: after step 1, periodically and at the end
  std::uint64_t steps = 0, examples = 0;
  double flops = 0;  // of forward and backward passes, those of second gradients (sam) and line searches included
  double training_seconds = 0;  // the clock that scores
  double evaluation_seconds = 0;
  double first_step_seconds = 0;  // part of training_seconds
  double total_seconds = 0;       // with setting up
  bool reached = false;           // the target
  std::string failure = {};       // why the trial ended early, or empty
};

namespace detail {

struct NoTrialObserver {};

template <class Loop>
double flops_of(const Loop& loop) {
  return static_cast<double>(loop.gradient_examples()) * static_cast<double>(loop.model().cost().flops());
}

// Evaluates validation data, and calls the submission's observer before and after.
template <class Metric, class Data, class Observer>
class TrialObserver {
 public:
  TrialObserver(const Metric& metric, const Data& data, const TrialOptions& options, Observer& observer,
                TrialResult& result)
      : metric_(metric), data_(data), options_(options), observer_(observer), result_(result) {}

  const auto& metric() const { return metric_; }
  bool evaluation_due(const StepReport& report) const {
    return report.now.t % options_.evaluate_every == 0 || report.now.t == 1;
  }
  bool last_evaluation_due(const StepReport& report) const { return !evaluation_due(report); }
  template <class Run>
  EvaluationReport evaluate(Run& run) {
    if constexpr (requires { observer_.before_evaluation(run.loop(), TrialClock{}); })
      timed(run, [&] { observer_.before_evaluation(run.loop(), clock(run.loop().last(), true)); });
    const EvaluationReport found = run.loop().evaluate(data_, metric_);
    result_.evaluations.push_back({found, run.loop().last().examples, flops_of(run.loop())});
    return found;
  }
  static bool reads_loss(const StepReport&) { return !std::is_same_v<Observer, NoTrialObserver>; }
  template <class Run>
  Control after_step(Run& run, const StepReport& report) {
    if (report.now.t == 1) result_.first_step_seconds = report.training_seconds;
    Control control = Control::go_on;
    if constexpr (requires { observer_.after_step(run.loop(), TrialClock{}); }) {
      const StepReport next{.now = {report.now.t + 1, 0}};
      timed(run, [&] {
        const TrialClock now = clock(report, evaluation_due(next) || next.now.t == options_.steps);
        if constexpr (std::is_void_v<decltype(observer_.after_step(run.loop(), now))>)
          observer_.after_step(run.loop(), now);
        else
          control = observer_.after_step(run.loop(), now);
      });
    }
    return control;
  }

 private:
  TrialClock clock(const StepReport& report, bool evaluation_next) const {
    return {report, options_.steps - report.now.t, options_.seconds - report.training_seconds, evaluation_next};
  }
  template <class Run, class Call>
  void timed(Run& run, const Call& call) {
    const Stopwatch watch;
    call();
    run.loop().count_as_training(watch.seconds());
  }

  Metric metric_;
  Data data_;
  TrialOptions options_;
  Observer& observer_;
  TrialResult& result_;
};

// The parts of a workload that a trial needs. Workloads with parts of the same types share the code of their trials.
template <class Model, class Loss, class Metric, class Train, class Validation>
struct TrialTask {
  Model model;
  Loss loss;
  Metric metric;
  Train train;
  Validation validation;
  Target target;
  WorkloadFacts facts;
};
template <class Model, class Loss, class Metric, class Train, class Validation>
TrialTask(Model, Loss, Metric, Train, Validation, Target, WorkloadFacts)
    -> TrialTask<Model, Loss, Metric, Train, Validation>;

template <class... Parts, class S>
TrialResult train_trial(const TrialTask<Parts...>& task, const S& submission, const HyperPoint& point,
                        const TrialOptions& options) {
  const WorkloadFacts& facts = task.facts;
  std::size_t batch = facts.batch_size;
  if constexpr (HasBatchSize<S>) batch = submission.batch_size(facts);
  const auto selector = [&] {
    if constexpr (HasSelector<S>)
      return submission.selector(point, facts, options.seed);
    else
      return ShuffledEpochs{.batch = batch, .seed = options.seed};
  }();
  auto observer = [&] {
    if constexpr (HasObserver<S>)
      return submission.observer(point, facts);
    else
      return NoTrialObserver{};
  }();
  TrainingLoop loop(task.model, task.loss, submission.rule(point, facts), submission.schedule(point, facts), selector,
                    Seed{options.seed}, Host<>{.threads = options.threads});
  TrialResult result;
  TrialObserver evaluate(task.metric, task.validation, options, observer, result);
  const UntilTarget until{task.target};
  const auto run = [&](auto&... more) {
    try {
      loop.run(task.train, evaluate, UntilStep{options.steps}, UntilSeconds{options.seconds}, more...);
    } catch (const Diverged& diverged) {
      result.failure = diverged.what();
    }
  };
  if (options.stop_at_target)
    run(until);
  else
    run();
  for (const EvaluationReport& evaluation : result.evaluations)
    result.reached = result.reached || task.target.reached_by(evaluation.metric);
  result.steps = loop.steps();
  result.examples = loop.last().examples;
  result.flops = flops_of(loop);
  result.training_seconds = loop.training_seconds();
  result.evaluation_seconds = loop.evaluation_seconds();
  return result;
}

}  // namespace detail

// Runs one trial. A loss that is not finite ends it, and is recorded as its failure. Two runs with the same seed on the
// same machine differ only in their clocks. Throws Error if an option of the submission or the trial is out of range.
template <class W, class S>
TrialResult run_trial(const W& workload, const S& submission, const HyperPoint& point, TrialOptions options = {}) {
  static_assert(detail::explain_submission<S>());
  options.check();
  const Stopwatch total;
  detail::TrialTask task{workload.model(),      workload.loss(),   workload.metric(), workload.train(),
                         workload.validation(), workload.target(), facts_of(workload)};
  const std::uint64_t hint = task.facts.step_hint;
  if (options.steps == 0) options.steps = hint;
  const auto times = [](double factor, std::uint64_t steps) {
    return static_cast<std::uint64_t>(std::ceil(factor * static_cast<double>(steps)));
  };
  options.steps = times(options.budget_factor, options.steps);
  options.seconds *= options.budget_factor;
  if (options.evaluate_every == 0) options.evaluate_every = hint / 25 + 1;
  task.facts.step_hint = times(options.step_hint_factor, hint);
  TrialResult result = detail::train_trial(task, submission, point, options);
  result.total_seconds = total.seconds();
  return result;
}

}  // namespace algoperf
