// What the parts of a report on batch sizes share. Requires fmt.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "../batch_scaling.hpp"
#include "../measure_noise_scale.hpp"
#include "../scaling_curve.hpp"

namespace algoperf {

// The gradient noise scale of a submission on a workload.
struct MeasuredNoise {
  std::string submission, workload;
  std::vector<NoiseSample> samples = {};
};

struct BatchSizeReportOptions {
  std::vector<double> easier_goals = {};  // beside the target
  std::vector<MeasuredNoise> noise = {};
  double tolerance = 0.2;  // of find_regimes
  double level = 0.9;      // of intervals
};

namespace detail {

// The submissions on one workload, and their curves to the target and to the easier goals.
struct BatchSizeView {
  std::vector<const BatchScaling*> scalings;
  std::vector<ScalingCurve> curves;                     // of the target
  std::vector<std::vector<ScalingCurve>> other_curves;  // by submission and easier goal
  const BatchSizeReportOptions& options;

  const ScoredWorkload& workload() const { return scalings.front()->workload; }
  // Returns the samples of a submission's noise, or nullptr.
  const std::vector<NoiseSample>* noise_of(std::size_t s) const {
    for (const MeasuredNoise& noise : options.noise)
      if (noise.submission == scalings[s]->submission && noise.workload == workload().name && !noise.samples.empty())
        return &noise.samples;
    return nullptr;
  }
};

inline std::vector<BatchSizeView> batch_size_views(const std::vector<BatchScaling>& found,
                                                   const BatchSizeReportOptions& options) {
  std::vector<BatchSizeView> views;
  for (const BatchScaling& scaling : found) {
    require(scaling.budgets.size() == scaling.studies.size(), "the study of ", scaling.submission, " on ",
            scaling.workload.name, " has ", scaling.budgets.size(), " budgets for ", scaling.studies.size(),
            " batch sizes");
    const auto same = [&](const BatchSizeView& view) { return view.workload().name == scaling.workload.name; };
    auto view = std::find_if(views.begin(), views.end(), same);
    if (view == views.end()) {
      views.push_back({{}, {}, {}, options});
      view = views.end() - 1;
    }
    view->scalings.push_back(&scaling);
    const auto& first = view->scalings.front()->studies;
    const auto same_batch = [](const BatchStudy& a, const BatchStudy& b) { return a.batch == b.batch; };
    require(std::equal(first.begin(), first.end(), scaling.studies.begin(), scaling.studies.end(), same_batch),
            "the studies of ", scaling.submission, " and ", view->scalings.front()->submission, " on ",
            scaling.workload.name, " have other batch sizes");
    view->curves.push_back(scaling_curve(scaling, scaling.goal(), options.tolerance, options.level));
    view->other_curves.emplace_back();
    for (const double goal : options.easier_goals)
      view->other_curves.back().push_back(scaling_curve(scaling, {goal, scaling.workload.target.lower_is_better, true},
                                                        options.tolerance, options.level));
  }
  return views;
}

// Returns whether the rate of effective_learning_rate() differs from the learning rate.
inline bool has_momentum(const BatchScaling& scaling) {
  return scaling.space.default_point().has("one_minus_momentum") || scaling.space.default_point().has("momentum");
}

// "12 (10 to 15)".
inline std::string estimate_text(const Estimate& estimate) {
  const auto end = [](double value) {
    return std::isinf(value) ? std::string("infinity") : fmt::format("{:.3g}", value);
  };
  return fmt::format("{:.3g} ({} to {})", estimate.value, end(estimate.interval.low), end(estimate.interval.high));
}

}  // namespace detail

}  // namespace algoperf
