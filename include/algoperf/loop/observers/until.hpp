// Observers that end a run: at a target, after a number of steps, after a time of training.
#pragma once

#include <cstdint>

#include "../../core/target.hpp"
#include "../concept.hpp"

namespace algoperf {

// Stops at the first evaluation whose metric reaches the target.
struct UntilTarget {
  Target target;
  template <class Run>
  Control ready(Run& run) const {
    const RunReport& report = run.report();
    return report.evaluated && target.reached_by(report.best.metric) ? Control::target_reached : Control::go_on;
  }
  template <class Run>
  Control after_evaluation(Run&, const EvaluationReport& report) const {
    return target.reached_by(report.metric) ? Control::target_reached : Control::go_on;
  }
};

// Stops after step `steps`.
struct UntilStep {
  std::uint64_t steps = 0;
  template <class Run>
  Control ready(Run& run) const {
    return run.loop().steps() >= steps ? Control::budget_spent : Control::go_on;
  }
  template <class Run>
  Control after_step(Run&, const StepReport& report) const {
    return report.now.t >= steps ? Control::budget_spent : Control::go_on;
  }
};

// Stops when the training clock passes `seconds`.
struct UntilSeconds {
  double seconds = 0;
  template <class Run>
  Control ready(Run& run) const {
    return run.loop().training_seconds() >= seconds ? Control::budget_spent : Control::go_on;
  }
  template <class Run>
  Control after_step(Run&, const StepReport& report) const {
    return report.training_seconds >= seconds ? Control::budget_spent : Control::go_on;
  }
};

}  // namespace algoperf
