// The charts of a report on workers. Requires fmt.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "../../../report/html.hpp"
#include "../../../report/svg_chart.hpp"
#include "../../point_text.hpp"
#include "view.hpp"

namespace algoperf::detail {

// Returns a section with a panel for the tuned and one for the untuned measurements, of value(measurement).
template <class Value>
std::string combiners_section(const WorkerView& view, const std::string& heading, const std::string& text,
                              const std::string& y, bool logarithmic, const Value& value) {
  std::vector<std::string> names;
  for (const WorkerCurve* const curve : view.curves) names.push_back(curve->combiner);
  std::string panels;
  for (const bool tuned : {true, false}) {
    SvgChart chart{.x = "workers", .y = y, .log_x = true, .log_y = logarithmic};
    for (std::size_t c = 0; c < view.curves.size(); ++c) {
      SvgChart::Series series{.color = c, .mark = SvgMark::disc};
      for (const WorkerMeasurement& measurement : tuned ? view.curves[c]->tuned : view.curves[c]->untuned) {
        const RunSpread spread = value(measurement);
        series.points.push_back(
            {static_cast<double>(measurement.workers), spread.median,
             fmt::format("{}, {} workers\nmedian {:.4g}, {:.4g} to {:.4g}\n{}", names[c], measurement.workers,
                         spread.median, spread.low, spread.high, point_text(measurement.point, "\n"))});
      }
      chart.series.push_back(std::move(series));
    }
    panels += chart_panel(tuned ? "tuned for each number of workers" : "tuned for the fewest workers", chart);
  }
  return html_section(heading, text, chart_keys(names) + "<div class=\"grid\">" + panels + "</div>");
}

inline std::string worker_steps_section(const WorkerView& view) {
  return combiners_section(
      view, view.heading() + ": steps to the target",
      fmt::format("A validation {} of {:g}; the median over seeds. Runs that miss it have no point.",
                  html_text(view.workload().metric), view.target().value),
      "steps to the target", true, [&](const WorkerMeasurement& m) { return steps_to_target(m, view.target()); });
}
inline std::string worker_metric_section(const WorkerView& view) {
  return combiners_section(view, view.heading() + ": the best metric within the budget",
                           "All numbers of workers have the same budget of examples. The median over seeds.",
                           "best " + view.workload().metric, view.target().lower_is_better,
                           [&](const WorkerMeasurement& m) { return best_metric(m, view.target()); });
}

inline std::string orthogonality_section(const std::vector<SubmissionOrthogonality>& all) {
  std::string panels;
  for (const SubmissionOrthogonality& each : all) {
    SvgChart chart{.x = "step", .y = "orthogonality", .least_y = 0, .most_y = 1};
    chart.lines.push_back(1 / static_cast<double>(each.measured.workers));
    for (std::size_t t = 0; t < each.measured.tensors.size(); ++t) {
      SvgChart::Series series{.color = t};
      for (const OrthogonalitySample& sample : each.measured.samples)
        series.points.push_back(
            {static_cast<double>(sample.step), sample.of_tensors[t],
             fmt::format("{}, step {}: {:.3g}", each.measured.tensors[t], sample.step, sample.of_tensors[t])});
      chart.series.push_back(std::move(series));
    }
    panels +=
        "<div>" + chart_keys(each.measured.tensors) +
        chart_panel(fmt::format("{} on {}, {} workers", each.submission, each.workload, each.measured.workers), chart) +
        "</div>";
  }
  if (panels.empty()) return "";
  return html_section("Orthogonality",
                      "|adasum(v_1, ..., v_W)|^2 / (|v_1|^2 + ... + |v_W|^2) of each tensor: 1 if the workers' vectors "
                      "are orthogonal, 1 / W, the dashed line, if they are equal, and less if they oppose each other.",
                      "<div class=\"grid\">" + panels + "</div>");
}

inline std::string sequential_section(const std::vector<WorkloadSequentialErrors>& all) {
  std::string panels;
  for (const WorkloadSequentialErrors& each : all) {
    SvgChart chart{.x = "step", .y = "relative error", .log_y = true};
    SvgChart::Series mean{.color = 0}, sum{.color = 1}, adasum{.color = 2};
    for (const SequentialErrors& errors : each.errors) {
      const double x = static_cast<double>(errors.step);
      mean.points.push_back({x, errors.mean});
      sum.points.push_back({x, errors.sum});
      adasum.points.push_back({x, errors.adasum});
    }
    chart.series = {std::move(mean), std::move(sum), std::move(adasum)};
    panels +=
        chart_panel(fmt::format("{}, rate {:g}, {} workers", each.workload, each.learning_rate, each.workers), chart);
  }
  if (panels.empty()) return "";
  return html_section("Against sequential steps",
                      "How far one step of SGD with combined gradients ends from the workers' steps one after the "
                      "other, relative to the distance of these steps.",
                      chart_keys({"mean", "sum", "adasum"}) + "<div class=\"grid\">" + panels + "</div>");
}

}  // namespace algoperf::detail
