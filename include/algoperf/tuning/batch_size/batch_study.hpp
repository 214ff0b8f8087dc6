// Studies of batch sizes: the fewest steps to a goal, and the best metric under a budget, over the trials of a tuning
// for each batch size. Source: Shallue et al. 2019, "Measuring the Effects of Data Parallelism on Neural Network
// Training" (arXiv:1811.03600), and the code that its authors published.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "../concept.hpp"

namespace algoperf {

// A complete trial trained for all its steps. An infeasible one diverged.
enum class TrialStatus : std::uint8_t { complete, incomplete, infeasible };

struct BatchTrial {
  struct Measurement {
    std::uint64_t step = 0;
    double metric = 0;           // NaN reaches no goal
    std::uint64_t examples = 0;  // that training had used; 0: not known
  };
  std::uint64_t id = 0;
  TrialStatus status = TrialStatus::complete;
  HyperPoint point = {};
  std::vector<Measurement> measurements = {};  // in the order of their steps
};

// The trials of one workload at one batch size.
struct BatchStudy {
  std::size_t batch = 0;
  std::vector<BatchTrial> trials = {};

  std::size_t count(TrialStatus status) const {
    return static_cast<std::size_t>(
        std::count_if(trials.begin(), trials.end(), [&](const BatchTrial& trial) { return trial.status == status; }));
  }
};

// A goal is reached by a metric that is better than `value`; by one equal to it only if `or_equal` is set.
struct Goal {
  double value = 0;
  bool lower_is_better = true;
  bool or_equal = false;
  bool reached_by(double metric) const {
    return (lower_is_better ? metric < value : metric > value) || (or_equal && metric == value);
  }
};

// A measurement of a trial that was chosen.
struct BatchResult {
  std::size_t batch = 0;
  std::uint64_t step = 0, trial = 0;  // the trial's id
  double metric = 0;
  HyperPoint point = {};
  std::uint64_t examples = 0;  // 0: not known
};

// Measurements within the budget count: those of at most `steps` steps and at most `examples` examples.
struct BatchBudget {
  double steps = std::numeric_limits<double>::infinity();
  double examples = std::numeric_limits<double>::infinity();
};

namespace detail {

// Calls f(trial, measurement) for the measurements of the complete trials with the lowest ids.
template <class F>
void for_each_complete(const BatchStudy& study, std::size_t trials, const F& f) {
  std::vector<const BatchTrial*> complete;
  for (const BatchTrial& trial : study.trials)
    if (trial.status == TrialStatus::complete) complete.push_back(&trial);
  require(complete.size() >= trials && !complete.empty(), "the study of batch size ", study.batch, " has ",
          complete.size(), " complete trials, expected at least ", trials > 0 ? trials : 1);
  std::sort(complete.begin(), complete.end(), [](const auto* a, const auto* b) { return a->id < b->id; });
  if (trials > 0) complete.resize(trials);
  for (const BatchTrial* const trial : complete)
    for (const BatchTrial::Measurement& measurement : trial->measurements) f(*trial, measurement);
}

inline BatchResult result_of(const BatchStudy& study, const BatchTrial& trial,
                             const BatchTrial::Measurement& measurement) {
  return {study.batch, measurement.step, trial.id, measurement.metric, trial.point, measurement.examples};
}

}  // namespace detail

// Returns the measurement that reaches the goal in the fewest steps, over the first `trials` complete trials (0: all);
// of equals, that of the trial with the lowest id. Returns nothing if no trial reaches the goal. Throws Error if there
// are fewer complete trials.
inline std::optional<BatchResult> steps_to_result(const BatchStudy& study, const Goal& goal, std::size_t trials = 0) {
  std::optional<BatchResult> fewest;
  detail::for_each_complete(study, trials, [&](const BatchTrial& trial, const BatchTrial::Measurement& measurement) {
    if (goal.reached_by(measurement.metric) && (!fewest || measurement.step < fewest->step))
      fewest = detail::result_of(study, trial, measurement);
  });
  return fewest;
}

// Returns the best metric within a budget; of equals, that with the fewest steps, and then the lowest id. Returns
// nothing if there is no measurement within the budget that is not NaN.
inline std::optional<BatchResult> best_result(const BatchStudy& study, bool lower_is_better,
                                              const BatchBudget& budget = {}, std::size_t trials = 0) {
  std::optional<BatchResult> best;
  detail::for_each_complete(study, trials, [&](const BatchTrial& trial, const BatchTrial::Measurement& measurement) {
    const double steps = static_cast<double>(measurement.step), metric = measurement.metric;
    if (steps > budget.steps || steps * static_cast<double>(study.batch) > budget.examples || std::isnan(metric))
      return;
    const auto rank = [&](double value, std::uint64_t step) {
      return std::tuple(lower_is_better ? value : -value, step);
    };
    if (!best || rank(metric, measurement.step) < rank(best->metric, best->step))
      best = detail::result_of(study, trial, measurement);
  });
  return best;
}

// Returns the measurement that reaches the goal in the fewest steps, or else the best metric. Returns nothing if no
// trial is complete, or if all metrics are NaN.
inline std::optional<BatchResult> reached_or_best(const BatchStudy& study, const Goal& goal) {
  if (study.count(TrialStatus::complete) == 0) return {};
  const std::optional<BatchResult> reached = steps_to_result(study, goal);
  return reached ? reached : best_result(study, goal.lower_is_better);
}

// The three regimes of the number of steps S as a function of the batch size B.
struct ScalingRegimes {
  double perfect_until = 0;  // the largest batch size up to which a batch k times as large needs 1 / k of the steps
  double maximal_from = 0;   // the smallest batch size from which larger batches save no steps
};

// Finds the regimes of points (B, S) by a rule: scaling is perfect while S B <= (1 + tolerance) S0 B0, where B0 is the
// smallest batch size, and parallelism is maximal from the first batch size with S <= (1 + tolerance) min S. The paper
// reads both off its plots and states no rule; this one is ours. Throws Error if there are no points, or if a value is
// not positive.
inline ScalingRegimes find_regimes(std::vector<std::pair<double, double>> points, double tolerance = 0.2) {
  require(!points.empty(), "find_regimes: there are no points");
  require(tolerance >= 0 && std::isfinite(tolerance), "find_regimes: the tolerance is ", tolerance,
          ", expected a finite number of at least 0");
  std::sort(points.begin(), points.end());
  double fewest = points.front().second;
  for (const auto& [batch, steps] : points) {
    require(batch > 0 && steps > 0 && std::isfinite(batch) && std::isfinite(steps), "find_regimes: batch size ", batch,
            " has ", steps, " steps, expected positive numbers");
    fewest = std::fmin(fewest, steps);
  }
  ScalingRegimes found{points.front().first, points.back().first};
  const double examples = points.front().first * points.front().second;
  for (const auto& [batch, steps] : points) {
    if (!(batch * steps <= (1 + tolerance) * examples)) break;
    found.perfect_until = batch;
  }
  for (const auto& [batch, steps] : points)
    if (steps <= (1 + tolerance) * fewest) {
      found.maximal_from = batch;
      break;
    }
  return found;
}

}  // namespace algoperf
