// The findings of a study of batch sizes, in sentences. Requires fmt.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "view.hpp"

namespace algoperf::detail {

// What one submission's curve shows.
inline void add_curve_findings(const BatchSizeView& view, std::size_t s, std::vector<std::string>& found) {
  const ScalingCurve& curve = view.curves[s];
  const BatchScaling& scaling = *view.scalings[s];
  const std::string& name = scaling.submission;
  if (!curve.regimes) {
    found.push_back(fmt::format("{}: fewer than two batch sizes reach the target.", name));
    return;
  }
  double largest = 0;  // that reached the target
  std::string missed;
  for (std::size_t b = 0; b < curve.batches.size(); ++b)
    if (curve.results[b])
      largest = static_cast<double>(curve.batches[b]);
    else
      missed += fmt::format("{}{}", missed.empty() ? "" : ", ", curve.batches[b]);
  std::string text = fmt::format(
      "{}: scaling is perfect up to a batch size of {:g}; {} (within {:.0f} %).", name, curve.regimes->perfect_until,
      curve.regimes->maximal_from >= largest
          ? fmt::format("the largest batch size that reached the target, {:g}, still saves steps", largest)
          : fmt::format("larger batches than {:g} save no steps", curve.regimes->maximal_from),
      100 * view.options.tolerance);
  if (!missed.empty()) text += " No trial reached the target at these batch sizes: " + missed + ".";
  found.push_back(text);
  if (curve.critical_batch)
    found.push_back(fmt::format(
        "{}: S = Smin (1 + Bcrit / B) has Smin = {} steps and Bcrit = {} examples ({:.0f} % "
        "intervals).",
        name, estimate_text(*curve.least_steps), estimate_text(*curve.critical_batch), 100 * view.options.level));
  if (const auto* const samples = view.noise_of(s)) {
    const auto scale = [](const NoiseSample& sample) {
      return sample.scale() > 0 && std::isfinite(sample.scale()) ? fmt::format("{:.3g} examples", sample.scale())
                                                                 : std::string("hidden by the noise");
    };
    const NoiseSample& last = samples->back();
    text = fmt::format("{}: the gradient noise scale is {} over the first {} steps and {} before step {}", name,
                       scale(samples->front()), samples->front().step, scale(last), last.step);
    if (curve.critical_batch && last.scale() > 0 && std::isfinite(last.scale()))
      text += fmt::format("; Bcrit is {:.2g} times the latter", curve.critical_batch->value / last.scale());
    found.push_back(text + ".");
  }
  if (curve.rate_exponent)
    found.push_back(
        fmt::format("{}: the best {}learning rate grows as the batch size to the power of {} before the "
                    "maximal data parallelism; the linear heuristic has 1, the square root 0.5.",
                    name, has_momentum(scaling) ? "effective " : "", estimate_text(*curve.rate_exponent)));
  const std::size_t last = curve.batches.size() - 1;
  if (curve.results.front() && curve.results[last])
    found.push_back(
        fmt::format("{}: from batch size {} to {}, steps fall by a factor of {:.3g} and epochs grow by a "
                    "factor of {:.3g}, from {:.3g} to {:.3g}.",
                    name, curve.batches.front(), curve.batches[last], curve.steps(0) / curve.steps(last),
                    curve.examples(last) / curve.examples(0), curve.examples(0) / static_cast<double>(scaling.examples),
                    curve.examples(last) / static_cast<double>(scaling.examples)));
}

// What differs between two submissions.
inline void add_comparison(const BatchSizeView& view, std::size_t a, std::size_t b, std::vector<std::string>& found) {
  const ScalingCurve &one = view.curves[a], &other = view.curves[b];
  std::size_t smallest = 0, largest = one.batches.size();
  while (smallest < one.batches.size() && !(one.results[smallest] && other.results[smallest])) ++smallest;
  while (largest > smallest && !(one.results[largest - 1] && other.results[largest - 1])) --largest;
  if (largest <= smallest + 1) return;
  found.push_back(fmt::format(
      "{} needs {:.3g} times the steps of {} at batch size {}, and {:.3g} times at batch size {}.",
      view.scalings[b]->submission, other.steps(smallest) / one.steps(smallest), view.scalings[a]->submission,
      one.batches[smallest], other.steps(largest - 1) / one.steps(largest - 1), one.batches[largest - 1]));
}

// Which ranges were widened, and which trials failed.
inline void add_search_findings(const BatchSizeView& view, std::size_t s, std::vector<std::string>& found) {
  const BatchScaling& scaling = *view.scalings[s];
  for (const Widening& widening : scaling.widenings)
    found.push_back(
        fmt::format("{} at batch size {}: the best {}, {:.3g}, was at the edge of the search space, so {:.3g} "
                    "to {:.3g} was searched as well; the best point {}.",
                    scaling.submission, widening.batch, widening.hyperparameter, widening.best, widening.from,
                    widening.to, widening.moved ? "is there" : "did not move there"));
  for (const std::string& failure : scaling.failures)
    found.push_back(fmt::format("{}, {}. Such trials do not count.", scaling.submission, failure));
}

}  // namespace algoperf::detail

namespace algoperf {

// Returns what a study of batch sizes found on each workload, one finding a sentence or two: the regimes of each curve
// and its fit, the noise scale beside it, how the best learning rate grows, how submissions differ, and which ranges
// were widened.
inline std::vector<std::string> batch_size_findings(const std::vector<BatchScaling>& scalings,
                                                    const BatchSizeReportOptions& options = {}) {
  std::vector<std::string> found;
  for (const detail::BatchSizeView& view : detail::batch_size_views(scalings, options)) {
    const std::size_t before = found.size();
    for (std::size_t s = 0; s < view.scalings.size(); ++s) detail::add_curve_findings(view, s, found);
    for (std::size_t s = 1; s < view.scalings.size(); ++s) detail::add_comparison(view, 0, s, found);
    for (std::size_t s = 0; s < view.scalings.size(); ++s) detail::add_search_findings(view, s, found);
    for (std::size_t i = before; i < found.size(); ++i) found[i] = view.workload().name + ", " + found[i];
  }
  return found;
}

}  // namespace algoperf
