// Observers that end a run: at a target metric, after a number of steps, or after a training time.
#pragma once

#include <cstdint>

#include "../../core/error.hpp"
#include "../../core/target.hpp"
#include "../concept.hpp"

namespace algoperf {

// Stops when an evaluation by the run's first evaluating observer reaches the target.
struct UntilTarget {
  Target target;

  // Throws Error if target and metric disagree on whether lower is better, or if the target is NaN.
  template <class Run>
  void begin(Run& run) const {
    static_assert(Run::evaluates(),
                  "algoperf: UntilTarget needs evaluations: pass run(...) an observer that evaluates, e.g. "
                  "Evaluate(task, {.every = 500})");
    require(target.value == target.value, "UntilTarget: the target is ", target.value, ", which no metric reaches");
    check(run.metric());
  }
  template <class Run>
  Control ready(Run& run) const {
    const RunReport& report = run.report();
    return report.evaluated && target.reached_by(report.best.metric) ? Control::target_reached : Control::go_on;
  }
  template <class Run>
  Control after_evaluation(Run&, const EvaluationReport& report) const {
    if (report.source != 0) return Control::go_on;
    check({report.metric_name, report.lower_is_better});
    return target.reached_by(report.metric) ? Control::target_reached : Control::go_on;
  }

 private:
  void check(const MetricFacts& metric) const {
    const auto better = [](bool lower) { return lower ? "lower" : "higher"; };
    require(*metric.name == 0 || metric.lower_is_better == target.lower_is_better, "UntilTarget: for the target, ",
            better(target.lower_is_better), " is better; for the metric '", metric.name, "', ",
            better(metric.lower_is_better));
  }
};

// Stops after step `steps`.
struct UntilStep {
  std::uint64_t steps = 0;
  template <class Run>
  Control ready(Run& run) const {
    return run.loop().steps() >= steps ? Control::budget_spent : Control::go_on;
  }
  static bool reads_loss(const StepReport&) { return false; }
  template <class Run>
  Control after_step(Run&, const StepReport& report) const {
    return report.now.t >= steps ? Control::budget_spent : Control::go_on;
  }
};

// Stops when the training clock reaches `seconds`.
struct UntilSeconds {
  double seconds = 0;
  template <class Run>
  void begin(Run&) const {
    require(seconds == seconds, "UntilSeconds: seconds is ", seconds, ", which no clock reaches");
  }
  template <class Run>
  Control ready(Run& run) const {
    return run.loop().training_seconds() >= seconds ? Control::budget_spent : Control::go_on;
  }
  static bool reads_loss(const StepReport&) { return false; }
  template <class Run>
  Control after_step(Run&, const StepReport& report) const {
    return report.training_seconds >= seconds ? Control::budget_spent : Control::go_on;
  }
};

}  // namespace algoperf
