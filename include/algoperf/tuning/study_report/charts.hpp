// The sections of a study's report that are charts. Requires fmt and nlohmann-json.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "../../report/html.hpp"
#include "../../report/svg_chart.hpp"
#include "view.hpp"

namespace algoperf::detail {

inline std::string profile_section(const StudyView& view) {
  SvgChart chart{.x = "ratio to the shortest time",
                 .y = "share of workloads",
                 .width = 700,
                 .height = 340,
                 .least_y = 0,
                 .most_y = 1.04,
                 .most_x = view.standings.profile.max_ratio()};
  for (std::size_t s = 0; s < view.names().size(); ++s) {
    SvgChart::Series series{.color = s, .step = true};
    std::vector<double> ratios{1};
    for (const double ratio : view.standings.profile.ratios(s))
      if (ratio <= view.standings.profile.max_ratio()) ratios.push_back(ratio);
    ratios.push_back(view.standings.profile.max_ratio());
    std::sort(ratios.begin(), ratios.end());
    for (const double ratio : ratios) {
      const double share = view.standings.profile.at(s, ratio);
      series.points.push_back({ratio, share,
                               fmt::format("{}\n{:.0f} % of the workloads within {:.2f} times\nthe shortest time",
                                           view.names()[s], 100 * share, ratio)});
    }
    chart.series.push_back(series);
  }
  return html_section("Performance profile",
                      "The share of workloads on which a submission takes at most this many times the shortest time.",
                      view.legend() + draw_svg(chart));
}

// Returns the best validation metric of a trial, or NaN if there was no evaluation.
inline double best_metric(const StudyView& view, std::size_t i, const ScoredWorkload& workload) {
  double best = NAN;
  for (const Evaluation& e : view.logs[i].evaluations)
    best = workload.target.lower_is_better ? std::fmin(best, e.metric) : std::fmax(best, e.metric);
  return best;
}
// Returns whether trial a reached the target before trial b, or, if neither reached it, has the better metric.
inline bool better_trial(const StudyView& view, std::size_t a, std::size_t b, const ScoredWorkload& workload) {
  const Evaluation *const hit_a = first_hit(view.logs[a], workload.target), *const hit_b = first_hit(view.logs[b],
                                                                                                     workload.target);
  if (hit_a != nullptr && hit_b != nullptr) return read(view.clock, *hit_a) < read(view.clock, *hit_b);
  if (hit_a != nullptr || hit_b != nullptr) return hit_a != nullptr;
  const double best_a = best_metric(view, a, workload), best_b = best_metric(view, b, workload);
  if (std::isnan(best_a) || std::isnan(best_b)) return std::isnan(best_b) && !std::isnan(best_a);
  return workload.target.lower_is_better ? best_a < best_b : best_a > best_b;
}
// Returns the trial that counts for each study: the fastest, or the best if none reached the target.
inline std::vector<std::size_t> counted_trials(const StudyView& view, const std::string& submission,
                                               const ScoredWorkload& workload) {
  std::map<std::size_t, std::size_t> chosen;
  for (std::size_t i = 0; i < view.records.size(); ++i) {
    if (view.records[i].submission != submission || view.records[i].workload != workload.name) continue;
    const auto [at, fresh] = chosen.emplace(view.records[i].study, i);
    if (!fresh && better_trial(view, i, at->second, workload)) at->second = i;
  }
  std::vector<std::size_t> trials;
  for (const auto& [number, i] : chosen) trials.push_back(i);
  return trials;
}

inline std::string curves_section(const StudyView& view) {
  std::string charts = view.legend() + "<div class=\"grid\">";
  for (const ScoredWorkload& workload : view.suite().workloads) {
    SvgChart chart{.x = clock_unit(view.clock),
                   .y = "validation " + workload.metric,
                   .log_y = workload.target.lower_is_better,
                   .lines = {workload.target.value}};
    for (const std::string& submission : view.names())
      for (const std::size_t i : counted_trials(view, submission, workload)) {
        SvgChart::Series series{.color = view.standings.times.find(submission), .opacity = 0.75};
        for (const Evaluation& e : view.logs[i].evaluations)
          series.points.push_back({read(view.clock, e), e.metric,
                                   fmt::format("{}, study {}, trial {}\nstep {:.0f}, {:.3g} s\n{} {:.4g}", submission,
                                               view.records[i].study + 1, view.records[i].trial + 1, e.step, e.seconds,
                                               workload.metric, e.metric)});
        chart.series.push_back(std::move(series));
      }
    charts += chart_panel(workload.name, chart);
  }
  return html_section("Training curves",
                      "The trial of each study that counts: the fastest to the target, or the best if none reached "
                      "it. The dashed line is the target. Point at a curve for its values.",
                      charts + "</div>\n");
}

inline std::vector<std::string> numeric_hyperparameters(const StudyView& view, const std::string& submission) {
  std::vector<std::string> found;
  for (const StudyRecord& record : view.records)
    if (record.submission == submission)
      for (const auto& [name, value] : record.point.entries())
        if (std::holds_alternative<double>(value.alternatives()) &&
            std::find(found.begin(), found.end(), name) == found.end())
          found.push_back(name);
  return found;
}
inline std::string sensitivity_chart(const StudyView& view, std::size_t s, const std::string& hyperparameter) {
  SvgChart chart{.x = hyperparameter,
                 .y = "metric / target",
                 .log_x = true,
                 .log_y = true,
                 .lines = {1},
                 .width = 250,
                 .height = 210};
  for (std::size_t w = 0; w < view.suite().workloads.size(); ++w) {
    const ScoredWorkload& workload = view.suite().workloads[w];
    SvgChart::Series series{.color = w, .line = false, .mark = SvgMark::disc};
    for (std::size_t i = 0; i < view.records.size(); ++i) {
      const StudyRecord& record = view.records[i];
      if (record.submission != view.names()[s] || record.workload != workload.name || !record.point.has(hyperparameter))
        continue;
      const double best = best_metric(view, i, workload), target = workload.target.value;
      const double x = record.point[hyperparameter];
      chart.log_x = chart.log_x && x > 0;
      series.points.push_back({x, workload.target.lower_is_better ? best / target : target / best,
                               fmt::format("{}\n{}\n{} {:.4g}{}", workload.name, point_text(record.point, "\n"),
                                           workload.metric, best, record.result.reached ? ", target reached" : "")});
    }
    chart.series.push_back(std::move(series));
  }
  return "<div>" + draw_svg(chart) + "</div>";
}
inline std::string sensitivity_section(const StudyView& view) {
  if (view.study.options().ruleset != Ruleset::external) return "";
  std::vector<std::string> names;
  for (const auto& workload : view.suite().workloads) names.push_back(workload.name);
  std::string html = chart_keys(names);
  for (const std::size_t s : view.standings.order) {
    html += "<h3>" + html_text(view.names()[s]) + "</h3>\n<div class=\"grid\">";
    for (const std::string& hyperparameter : numeric_hyperparameters(view, view.names()[s]))
      html += sensitivity_chart(view, s, hyperparameter);
    html += "</div>\n";
  }
  return html_section("Sensitivity to hyperparameters",
                      "The best validation metric of each trial, divided by the target (or the target divided by "
                      "it, where higher is better): trials on or below the dashed line reached the target, and "
                      "stopped there. A flat cloud is an insensitive hyperparameter.",
                      html);
}

}  // namespace algoperf::detail
