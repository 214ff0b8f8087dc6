// WorkerMeasurement: what runs with several seeds show of a combiner at one number of workers: the steps to a target,
// the best metric, and how they compare with those of another combiner.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "../../core/median.hpp"
#include "../../core/percentile.hpp"
#include "../../core/random.hpp"
#include "../../scoring/concept.hpp"
#include "../concept.hpp"
#include "../trial.hpp"

namespace algoperf {

// Runs at one point with `workers` workers, which differ in their seeds.
struct WorkerMeasurement {
  std::size_t workers = 1;
  HyperPoint point = {};
  std::vector<TrialResult> runs = {};
};

// A submission with one combiner on a workload, by the number of workers.
struct WorkerCurve {
  std::string submission, combiner;
  ScoredWorkload workload;
  std::vector<WorkerMeasurement> tuned = {};    // at the best point of a search at each number of workers
  std::vector<WorkerMeasurement> untuned = {};  // at the best point with the fewest workers
  std::vector<std::string> failures = {};       // of trials and runs that ended in another way than by divergence
};

// A median over runs, and their range. An infinite number of steps means that the target was not reached.
struct RunSpread {
  double median = 0, low = 0, high = 0;
};

namespace detail {

inline RunSpread spread_of(const std::vector<double>& values) {
  require(!values.empty(), "WorkerMeasurement: there are no runs");
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {median(values), *low, *high};
}

}  // namespace detail

// Returns the step of the first evaluation of each run that reached the target, or infinity.
inline std::vector<double> steps_of_runs(const WorkerMeasurement& measurement, const Target& target) {
  std::vector<double> steps;
  for (const TrialResult& run : measurement.runs) {
    steps.push_back(std::numeric_limits<double>::infinity());
    for (const TrialEvaluation& evaluation : run.evaluations)
      if (target.reached_by(evaluation.metric)) {
        steps.back() = static_cast<double>(evaluation.step);
        break;
      }
  }
  return steps;
}

// Returns the best metric of each run. A run that diverged counts with its evaluations before that.
inline std::vector<double> best_of_runs(const WorkerMeasurement& measurement, const Target& target) {
  std::vector<double> metrics;
  for (const TrialResult& run : measurement.runs) {
    const double worst = std::numeric_limits<double>::infinity();
    metrics.push_back(target.lower_is_better ? worst : -worst);
    for (const TrialEvaluation& evaluation : run.evaluations)
      if (target.lower_is_better ? evaluation.metric < metrics.back() : evaluation.metric > metrics.back())
        metrics.back() = evaluation.metric;
  }
  return metrics;
}

inline RunSpread steps_to_target(const WorkerMeasurement& measurement, const Target& target) {
  return detail::spread_of(steps_of_runs(measurement, target));
}
inline RunSpread best_metric(const WorkerMeasurement& measurement, const Target& target) {
  return detail::spread_of(best_of_runs(measurement, target));
}

// A ratio of medians, and its percentile interval.
struct MedianRatio {
  double value = 0;
  Interval interval = {};
};

// Returns the ratio of the median of `a` to that of `b`, with the interval of 4000 bootstrap samples of the runs, drawn
// from each. With few runs, intervals of this kind are too narrow: five runs cover less than their level. Throws Error
// if there are no runs, or if a median is not finite.
inline MedianRatio median_ratio(const std::vector<double>& a, const std::vector<double>& b, double level = 0.9,
                                std::uint64_t seed = 1) {
  const double of_a = median(a), of_b = median(b);
  require(std::isfinite(of_a) && std::isfinite(of_b) && of_b != 0, "median_ratio: the medians are ", of_a, " and ",
          of_b, ", expected finite numbers");
  RandomStream random(RandomKey{seed});
  const auto resampled = [&](const std::vector<double>& values) {
    std::vector<double> drawn;
    for (std::size_t i = 0; i < values.size(); ++i)
      drawn.push_back(values[random.below(static_cast<std::uint32_t>(values.size()))]);
    return median(std::move(drawn));
  };
  std::vector<double> ratios;
  for (int i = 0; i < 4000; ++i) {
    const double top = resampled(a), bottom = resampled(b);
    if (std::isfinite(top) || std::isfinite(bottom)) ratios.push_back(top / bottom);  // inf / inf says nothing
  }
  return {of_a / of_b, percentile_interval(std::move(ratios), level)};
}

// Returns the largest number of workers up to which most runs reach the target at each number, or 0.
inline std::size_t workers_that_reach(const std::vector<WorkerMeasurement>& measurements, const Target& target) {
  std::size_t most = 0;
  for (const WorkerMeasurement& measurement : measurements) {
    if (!std::isfinite(steps_to_target(measurement, target).median)) break;
    most = measurement.workers;
  }
  return most;
}

}  // namespace algoperf
