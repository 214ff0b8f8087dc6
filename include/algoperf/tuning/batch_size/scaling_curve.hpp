// scaling_curve: the steps to a goal as a function of the batch size, the three regimes of this curve, and the fit
// S = Smin (1 + Bcrit / B).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "../../core/percentile.hpp"
#include "../../scaling/fit/fit.hpp"
#include "../../scaling/fit/profile.hpp"
#include "../../scaling/laws/critical_batch.hpp"
#include "../../scaling/laws/log_line.hpp"
#include "batch_scaling.hpp"
#include "constant_rate_submissions.hpp"

namespace algoperf {

// A number with its profile interval.
struct Estimate {
  double value = 0;
  Interval interval = {};
};

struct ScalingCurve {
  Goal goal;
  std::vector<std::size_t> batches = {};
  std::vector<std::optional<BatchResult>> results = {};  // by batch size; nothing if no trial reached the goal
  // Nothing if fewer than two batch sizes reached the goal.
  std::optional<ScalingRegimes> regimes = {};
  // Smin and Bcrit of S = Smin (1 + Bcrit / B). Nothing if fewer than three batch sizes reached the goal, or if the fit
  // does not converge, is not determined by the measurements, or all have the same steps.
  std::optional<Estimate> least_steps = {}, critical_batch = {};
  // c of (effective learning rate) ~ B^c, up to the batch size from which data parallelism is maximal; the linear
  // heuristic has c = 1, the square root has c = 1 / 2. Nothing if there are fewer than three such batch sizes, or if
  // all have the same rate.
  std::optional<Estimate> rate_exponent = {};

  // Returns the steps at batch size number b, or NaN if no trial reached the goal.
  double steps(std::size_t b) const { return results[b] ? static_cast<double>(results[b]->step) : std::nan(""); }
  // Returns the examples at batch size number b: those that were measured, or else the product of steps and batch size.
  double examples(std::size_t b) const {
    const bool measured = results[b] && results[b]->examples > 0;
    return measured ? static_cast<double>(results[b]->examples) : steps(b) * static_cast<double>(batches[b]);
  }
};

namespace detail {

template <ScalingLaw Law>
std::optional<Fit<Law>> fit_of_curve(const std::vector<Observation<1>>& points) {
  if (points.size() <= Law::parameters) return {};
  if (std::all_of(points.begin(), points.end(), [&](const auto& p) { return p.y == points.front().y; })) return {};
  const Fit<Law> found = fit(Law{}, points);
  if (!found.converged || !found.determined()) return {};
  return found;
}

}  // namespace detail

// Returns the curve of a goal. `tolerance` is that of find_regimes, `level` that of the intervals, which assume
// independent relative errors of equal size.
inline ScalingCurve scaling_curve(const BatchScaling& scaling, const Goal& goal, double tolerance = 0.2,
                                  double level = 0.9) {
  ScalingCurve curve{goal};
  std::vector<std::pair<double, double>> reached;
  std::vector<Observation<1>> steps;
  for (const BatchStudy& study : scaling.studies) {
    curve.batches.push_back(study.batch);
    curve.results.push_back(study.count(TrialStatus::complete) > 0 ? steps_to_result(study, goal) : std::nullopt);
    if (!curve.results.back()) continue;
    reached.emplace_back(static_cast<double>(study.batch), curve.steps(curve.results.size() - 1));
    steps.push_back({{reached.back().first}, reached.back().second});
  }
  if (reached.size() >= 2) curve.regimes = find_regimes(reached, tolerance);
  if (const auto found = detail::fit_of_curve<CriticalBatch>(steps)) {
    curve.least_steps = {found->parameters()[0], profile_interval(*found, steps, 0, level)};
    curve.critical_batch = {found->parameters()[1], profile_interval(*found, steps, 1, level)};
  }
  std::vector<Observation<1>> rates;
  for (std::size_t b = 0; b < curve.batches.size(); ++b) {
    const double batch = static_cast<double>(curve.batches[b]);
    if (!curve.regimes || !curve.results[b] || !curve.results[b]->point.has("learning_rate") ||
        batch > curve.regimes->maximal_from)
      continue;
    rates.push_back({{batch}, effective_learning_rate(curve.results[b]->point)});
  }
  if (const auto found = detail::fit_of_curve<LogLine>(rates))
    curve.rate_exponent = {found->parameters()[1], profile_interval(*found, rates, 1, level)};
  return curve;
}

}  // namespace algoperf
