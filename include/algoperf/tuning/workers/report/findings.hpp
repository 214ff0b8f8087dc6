// The findings of a report on workers, in sentences. Requires fmt.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "view.hpp"

namespace algoperf::detail {

inline std::string ratio_text(const MedianRatio& ratio) {
  const auto end = [](double x) { return std::isfinite(x) ? fmt::format("{:.3g}", x) : std::string("infinity"); };
  return fmt::format("{:.3g} ({} to {})", ratio.value, end(ratio.interval.low), end(ratio.interval.high));
}

// "1 worker", "4 workers".
inline std::string workers_text(std::size_t workers) {
  return fmt::format("{} worker{}", workers, workers == 1 ? "" : "s");
}
// "the mean", "the sum", "Adasum".
inline std::string combiner_text(const std::string& combiner) {
  return combiner == "adasum" ? "Adasum" : combiner == "mean" || combiner == "sum" ? "the " + combiner : combiner;
}

// Up to how many workers the point that is best for the fewest still reaches the target.
inline void add_untuned_finding(const WorkerView& view, std::vector<std::string>& found) {
  std::string text;
  std::size_t fewest = 0;
  for (const WorkerCurve* const curve : view.curves) {
    if (curve->untuned.empty()) continue;
    fewest = curve->untuned.front().workers;
    const std::size_t most = workers_that_reach(curve->untuned, view.target());
    text += fmt::format("{}{} with {}", text.empty() ? "" : ", ", combiner_text(curve->combiner),
                        most == 0                               ? std::string("none")
                        : most == curve->untuned.back().workers ? fmt::format("up to {} (the most tried)", most)
                                                                : fmt::format("up to {}", most));
  }
  if (!text.empty())
    found.push_back(fmt::format("Untuned (at the point that is best for {}), most runs reach the target: {}.",
                                workers_text(fewest), text));
}

// The steps of Adasum beside those of another combiner, at the most workers with which both reach the target.
inline void add_ratio_finding(const WorkerView& view, const char* other, bool tuned, double level,
                              std::vector<std::string>& found) {
  const WorkerCurve *const adasum = view.of("adasum"), *const beside = view.of(other);
  if (adasum == nullptr || beside == nullptr) return;
  const auto& of_adasum = tuned ? adasum->tuned : adasum->untuned;
  const auto& of_other = tuned ? beside->tuned : beside->untuned;
  const char* const how = tuned ? "Tuned" : "Untuned";
  for (std::size_t i = of_adasum.size(); i-- > 0;) {
    const WorkerMeasurement* const same = with_workers(of_other, of_adasum[i].workers);
    if (same == nullptr || of_adasum[i].workers == 1) continue;
    const std::vector<double> a = steps_of_runs(of_adasum[i], view.target()), b = steps_of_runs(*same, view.target());
    if (!std::isfinite(median(a)) || !std::isfinite(median(b))) continue;
    found.push_back(fmt::format("{}, with {}, Adasum needs {} times the steps of {} ({:.0f} % interval over {} seeds).",
                                how, workers_text(of_adasum[i].workers), ratio_text(median_ratio(a, b, level)),
                                combiner_text(other), 100 * level, a.size()));
    return;
  }
  found.push_back(
      fmt::format("{}, there is no number of workers above 1 with which both Adasum and {} reach the target.", how,
                  combiner_text(other)));
}

// The steps with the fewest workers, and with the most that reach the target.
inline void add_speedup_finding(const WorkerView& view, std::vector<std::string>& found) {
  for (const WorkerCurve* const curve : view.curves) {
    std::vector<const WorkerMeasurement*> reached;
    for (const WorkerMeasurement& measurement : curve->tuned)
      if (std::isfinite(steps_to_target(measurement, view.target()).median)) reached.push_back(&measurement);
    if (reached.size() < 2) continue;
    const RunSpread few = steps_to_target(*reached.front(), view.target());
    const RunSpread many = steps_to_target(*reached.back(), view.target());
    found.push_back(fmt::format("Tuned, {} needs {} steps with {}, and {} with {}: a factor of {:.3g}.",
                                combiner_text(curve->combiner), steps_text(few), workers_text(reached.front()->workers),
                                steps_text(many), reached.back()->workers, few.median / many.median));
  }
}

}  // namespace algoperf::detail

namespace algoperf {

// Returns what a study of workers found of each submission on each workload, one finding a sentence.
inline std::vector<std::string> worker_findings(const std::vector<WorkerCurve>& curves,
                                                const WorkerReportOptions& options = {}) {
  std::vector<std::string> found;
  for (const detail::WorkerView& view : detail::worker_views(curves)) {
    const std::size_t before = found.size();
    detail::add_untuned_finding(view, found);
    for (const bool tuned : {false, true})
      for (const char* const other : {"mean", "sum"})
        detail::add_ratio_finding(view, other, tuned, options.level, found);
    detail::add_speedup_finding(view, found);
    for (const WorkerCurve* const curve : view.curves)
      for (const std::string& failure : curve->failures)
        found.push_back(fmt::format("{}, {}. Such runs count as missing the target; run the study again.",
                                    curve->combiner, failure));
    for (const SubmissionOrthogonality& each : options.orthogonality)
      if (each.submission == view.submission() && each.workload == view.workload().name &&
          !each.measured.samples.empty()) {
        const auto mean = [](const OrthogonalitySample& sample) {
          double sum = 0, count = 0;  // of the tensors whose vectors are not all 0
          for (const double x : sample.of_tensors)
            if (!std::isnan(x)) sum += x, ++count;
          return sum / count;
        };
        const OrthogonalitySample &first = each.measured.samples.front(), &last = each.measured.samples.back();
        found.push_back(
            fmt::format("The orthogonality of {} workers, averaged over tensors, is {:.3g} at step {} and "
                        "{:.3g} at step {}; equal vectors have {:.3g}, orthogonal ones 1.",
                        each.measured.workers, mean(first), first.step, mean(last), last.step,
                        1 / static_cast<double>(each.measured.workers)));
      }
    for (std::size_t i = before; i < found.size(); ++i) found[i] = view.heading() + ": " + found[i];
  }
  for (const WorkloadSequentialErrors& each : options.sequential) {
    std::vector<double> mean, sum, adasum;
    for (const SequentialErrors& errors : each.errors) {
      mean.push_back(errors.mean), sum.push_back(errors.sum), adasum.push_back(errors.adasum);
    }
    if (mean.empty()) continue;
    found.push_back(
        fmt::format("SGD on {} at rate {:g}: against {} sequential steps, the median relative error of one "
                    "step is {:.3g} for the mean, {:.3g} for the sum and {:.3g} for Adasum.",
                    each.workload, each.learning_rate, each.workers, median(mean), median(sum), median(adasum)));
  }
  return found;
}

}  // namespace algoperf
