// What the parts of a report on workers share. Requires fmt.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "../../../combine/sequential_workers.hpp"
#include "../measure_orthogonality.hpp"
#include "../worker_measurement.hpp"

namespace algoperf {

// The orthogonality during a submission's training on a workload with Adasum.
struct SubmissionOrthogonality {
  std::string submission, workload;
  Orthogonality measured;
};
// The errors of combined gradients during SGD on a workload.
struct WorkloadSequentialErrors {
  std::string workload;
  double learning_rate = 0;
  std::size_t workers = 0, examples_per_worker = 0;
  std::vector<SequentialErrors> errors = {};
};

struct WorkerReportOptions {
  std::vector<SubmissionOrthogonality> orthogonality = {};
  std::vector<WorkloadSequentialErrors> sequential = {};
  double level = 0.9;  // of intervals
};

namespace detail {

// The combiners of one submission on one workload.
struct WorkerView {
  std::vector<const WorkerCurve*> curves;

  const ScoredWorkload& workload() const { return curves.front()->workload; }
  const Target& target() const { return workload().target; }
  const std::string& submission() const { return curves.front()->submission; }
  std::string heading() const { return submission() + " on " + workload().name; }
  // Returns a combiner's curve, or nullptr.
  const WorkerCurve* of(const std::string& combiner) const {
    for (const WorkerCurve* const curve : curves)
      if (curve->combiner == combiner) return curve;
    return nullptr;
  }
};

inline std::vector<WorkerView> worker_views(const std::vector<WorkerCurve>& curves) {
  std::vector<WorkerView> views;
  for (const WorkerCurve& curve : curves) {
    const auto same = [&](const WorkerView& view) {
      return view.submission() == curve.submission && view.workload().name == curve.workload.name;
    };
    auto view = std::find_if(views.begin(), views.end(), same);
    if (view == views.end()) view = views.insert(view, WorkerView{});
    view->curves.push_back(&curve);
  }
  return views;
}

// Returns the measurement with this many workers, or nullptr.
inline const WorkerMeasurement* with_workers(const std::vector<WorkerMeasurement>& measurements, std::size_t workers) {
  for (const WorkerMeasurement& measurement : measurements)
    if (measurement.workers == workers) return &measurement;
  return nullptr;
}

// "120 (110 to 150)", or "missed".
inline std::string steps_text(const RunSpread& steps) {
  if (!std::isfinite(steps.median)) return "missed";
  return fmt::format("{:g} ({:g} to {})", steps.median, steps.low,
                     std::isfinite(steps.high) ? fmt::format("{:g}", steps.high) : std::string("missed"));
}
inline std::string metric_text(const RunSpread& metric) {
  return fmt::format("{:.3g} ({:.3g} to {:.3g})", metric.median, metric.low, metric.high);
}

}  // namespace detail

}  // namespace algoperf
