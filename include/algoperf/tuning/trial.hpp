// run_trial: trains a workload with a submission until the target or the end of a budget, and records everything that
// a score needs.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../backend/host.hpp"
#include "../loop/observers/until.hpp"
#include "../loop/stopwatch.hpp"
#include "../nn/graph/graph_cost.hpp"
#include "../nn/graph/objective.hpp"
#include "submission.hpp"
#include "trial_loop.hpp"
#include "trial_result.hpp"

namespace algoperf {

struct TrialOptions {
  std::uint64_t seed = 0;                                    // of parameters and data order
  std::uint64_t steps = 0;                                   // budget; 0: the step hint of the workload
  double seconds = std::numeric_limits<double>::infinity();  // budget of training time
  double budget_factor = 1;                                  // multiplies both budgets
  double step_hint_factor = 1;       // multiplies the step hint that the submission gets, but not the budget
  std::uint64_t evaluate_every = 0;  // steps; 0: a 25th of the step hint
  // Leaves out evaluations before the number of steps has grown by this factor since the last one. 1: leaves out none.
  double evaluate_growth = 1;
  // Examples per step, instead of the submission's or the workload's; the step hint is then the budget. 0: as they are.
  std::size_t batch_size = 0;
  std::size_t workers = 1;  // that share a batch, one after the other; more need a submission with a combiner
  bool stop_at_target = true;
  unsigned threads = 1;

  void check() const {
    require(seconds > 0, "TrialOptions: seconds is ", seconds, ", expected more than 0");
    require(budget_factor > 0 && std::isfinite(budget_factor), "TrialOptions: budget_factor is ", budget_factor,
            ", expected a finite number above 0");
    require(step_hint_factor > 0 && std::isfinite(step_hint_factor), "TrialOptions: step_hint_factor is ",
            step_hint_factor, ", expected a finite number above 0");
    require(evaluate_growth >= 1 && std::isfinite(evaluate_growth), "TrialOptions: evaluate_growth is ",
            evaluate_growth, ", expected a finite number of at least 1");
    require(workers >= 1, "TrialOptions: workers is 0, expected at least 1");
    require(threads >= 1, "TrialOptions: threads is 0, expected at least 1");
  }
};

namespace detail {

struct NoTrialObserver {};

// Evaluates validation data, calls the submission's observer before and after, and stops at the target.
template <class Observer>
class TrialObserver {
 public:
  // evaluate: of validation data. flops: of a forward and backward pass of one example.
  TrialObserver(MetricFacts metric, std::function<EvaluationReport()> evaluate, const Target& target,
                const TrialOptions& options, double flops, Observer& observer, TrialResult& result)
      : metric_(metric),
        evaluate_(std::move(evaluate)),
        until_{target},
        options_(options),
        flops_(flops),
        observer_(observer),
        result_(result) {}

  MetricFacts metric() const { return metric_; }
  template <class Run>
  void begin(Run& run) const {
    until_.begin(run);
  }
  bool evaluation_due(const StepReport& report) const {
    const std::uint64_t t = report.now.t;
    if (t == 1) return true;
    const double least = options_.evaluate_growth * static_cast<double>(evaluated_);
    return t % options_.evaluate_every == 0 && static_cast<double>(t) >= least;
  }
  bool last_evaluation_due(const StepReport& report) const { return report.now.t != evaluated_; }
  template <class Run>
  EvaluationReport evaluate(Run& run) {
    if constexpr (requires { observer_.before_evaluation(run.loop(), TrialClock{}); })
      timed(run, [&] { observer_.before_evaluation(run.loop(), clock(run.loop().last(), true)); });
    evaluated_ = run.loop().last().now.t;
    const EvaluationReport found = evaluate_();
    result_.evaluations.push_back(
        {found, run.loop().last().examples, static_cast<double>(run.loop().gradient_examples()) * flops_});
    return found;
  }
  template <class Run>
  Control after_evaluation(Run& run, const EvaluationReport& report) const {
    return options_.stop_at_target ? until_.after_evaluation(run, report) : Control::go_on;
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

  MetricFacts metric_;
  std::function<EvaluationReport()> evaluate_;
  UntilTarget until_;
  TrialOptions options_;
  double flops_;
  Observer& observer_;
  TrialResult& result_;
  std::uint64_t evaluated_ = 0;  // the step of the last evaluation
};

// How a trial measures a workload.
template <class Metric, class Train, class Validation>
struct TrialData {
  Metric metric;
  Train train;
  Validation validation;
  Target target;
  WorkloadFacts facts;
};
template <class Metric, class Train, class Validation>
TrialData(Metric, Train, Validation, Target, WorkloadFacts) -> TrialData<Metric, Train, Validation>;
// The parts of a workload that a trial needs. Workloads with parts of the same types share the code of their trials.
template <class Model, class Loss, class Data>
struct TrialTask {
  Objective<Model, Loss> objective;
  Data data;
};
template <class Model, class Loss, class Data>
TrialTask(Objective<Model, Loss>, Data) -> TrialTask<Model, Loss, Data>;

template <class W>
auto trial_task(const W& workload) {
  return TrialTask{
      Objective{workload.model(), workload.loss()},
      TrialData{workload.metric(), workload.train(), workload.validation(), workload.target(), facts_of(workload)}};
}

// Trains a loop until the end of the trial. flops: of a forward and backward pass of one example.
template <class Loop, class Metric, class Train, class Validation, class Observer>
TrialResult train_trial(Loop& loop, const TrialData<Metric, Train, Validation>& data, const TrialOptions& options,
                        double flops, Observer& observer) {
  TrialResult result;
  TrialObserver evaluations(
      {data.metric.name, data.metric.lower_is_better}, [&] { return loop.evaluate(data.validation, data.metric); },
      data.target, options, flops, observer, result);
  try {
    loop.run(data.train, evaluations, UntilStep{options.steps}, UntilSeconds{options.seconds});
  } catch (const Diverged& diverged) {
    result.failure = diverged.what();
  }
  for (const EvaluationReport& evaluation : result.evaluations)
    result.reached = result.reached || data.target.reached_by(evaluation.metric);
  result.steps = loop.steps();
  result.examples = loop.last().examples;
  result.flops = static_cast<double>(loop.gradient_examples()) * flops;
  result.training_seconds = loop.training_seconds();
  result.evaluation_seconds = loop.evaluation_seconds();
  return result;
}

// Replaces options of 0 by their defaults, and applies the factors of the budget and of the step hint.
inline void complete(TrialOptions& options, WorkloadFacts& facts) {
  const auto times = [](double factor, std::uint64_t steps) {
    return static_cast<std::uint64_t>(std::ceil(factor * static_cast<double>(steps)));
  };
  if (options.steps == 0) options.steps = facts.step_hint;
  options.steps = times(options.budget_factor, options.steps);
  options.seconds *= options.budget_factor;
  if (options.evaluate_every == 0) options.evaluate_every = facts.step_hint / 25 + 1;
  facts.workers = options.workers;
  if (options.batch_size > 0) {
    facts.batch_size = options.batch_size;
    facts.step_hint = options.steps;
  }
  facts.step_hint = times(options.step_hint_factor, facts.step_hint);
}

// Returns the FLOPs of a forward and backward pass per example of a batch, with as many rows on each ragged axis as the
// examples of the data set have on average.
template <class ModelFunction, class Data>
double flops_per_example(const ModelFunction& model, const Data& data, std::size_t batch) {
  AxisLengths lengths;
  if constexpr (RaggedDataset<Data>) {
    Recorder<> net;
    model(net);
    for (const Axis& axis : net.graph().axes) {
      std::size_t rows = 0;
      for (std::size_t i = 0; axis.ragged && i < data.size(); ++i) rows += data.rows(axis.name, i);
      if (axis.ragged && data.size() > 0) lengths.push_back({axis.name, (rows + data.size() / 2) / data.size()});
    }
  }
  return static_cast<double>(model_cost(model, lengths, batch).flops()) / static_cast<double>(batch);
}

template <class S>
auto trial_selector(const S& submission, const HyperPoint& point, const WorkloadFacts& facts,
                    const TrialOptions& options) {
  std::size_t batch = facts.batch_size;
  if constexpr (HasBatchSize<S>)
    if (options.batch_size == 0) batch = submission.batch_size(facts);
  if constexpr (HasSelector<S>) {
    const auto selector = submission.selector(point, facts, options.seed);
    require(options.batch_size == 0 || selector.batch == batch, "TrialOptions: batch_size is ", batch,
            ", but the selector of submission '", S::name, "' has batches of ", selector.batch);
    return selector;
  } else {
    return ShuffledEpochs{.batch = batch, .seed = options.seed};
  }
}

template <class S>
auto trial_observer(const S& submission, const HyperPoint& point, const WorkloadFacts& facts) {
  if constexpr (HasObserver<S>)
    return submission.observer(point, facts);
  else
    return NoTrialObserver{};
}

template <class S>
auto trial_combiner(const S& submission, const HyperPoint& point, const WorkloadFacts& facts) {
  if constexpr (HasCombiner<S>) {
    return submission.combiner(point, facts);
  } else {
    require(facts.workers == 1, "TrialOptions: workers is ", facts.workers, ", but submission '", S::name,
            "' has no combiner");
    return SingleWorker{};
  }
}

// Returns the loop of a trial, which must not outlive the objective.
template <class S>
auto trial_loop(const ModelFunctionRef<Host<>>& objective, const S& submission, const HyperPoint& point,
                const WorkloadFacts& facts, const TrialOptions& options) {
  return TrialLoop(objective, submission.rule(point, facts), submission.schedule(point, facts),
                   trial_selector(submission, point, facts, options), trial_combiner(submission, point, facts),
                   facts.workers, options.threads, Seed{options.seed});
}

template <class Task, class S>
TrialResult run_task(const Task& task, const S& submission, const HyperPoint& point, TrialOptions options) {
  WorkloadFacts facts = task.data.facts;
  complete(options, facts);
  check_loss(task.objective.loss);
  auto loop = trial_loop(ModelFunctionRef<Host<>>(task.objective), submission, point, facts, options);
  auto observer = trial_observer(submission, point, facts);
  return train_trial(loop.base(), task.data, options,
                     flops_per_example(task.objective.model, task.data.train, facts.batch_size), observer);
}

// load() returns the task.
template <class Load, class S>
TrialResult run_loaded(const Load& load, const S& submission, const HyperPoint& point, const TrialOptions& options) {
  options.check();
  const Stopwatch total;
  TrialResult result = run_task(load(), submission, point, options);
  result.total_seconds = total.seconds();
  return result;
}

}  // namespace detail

// Runs one trial. A loss that is not finite ends it, and is recorded as its failure. Two runs with the same seed on the
// same machine differ only in their clocks. Throws Error if an option of the submission or the trial is out of range.
template <class W, class S>
TrialResult run_trial(const W& workload, const S& submission, const HyperPoint& point,
                      const TrialOptions& options = {}) {
  static_assert(detail::explain_submission<S>());
  return detail::run_loaded([&] { return detail::trial_task(workload); }, submission, point, options);
}

}  // namespace algoperf
