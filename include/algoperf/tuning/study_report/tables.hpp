// The sections of a study's report that are tables. Requires fmt and nlohmann-json.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "../../core/median.hpp"
#include "../../report/html.hpp"
#include "../../scoring/missing_logs.hpp"
#include "../shared_point.hpp"
#include "view.hpp"

namespace algoperf::detail {

// Returns the text of a finite time, or "missed".
inline std::string missed_or(double value, const std::string& text) {
  return std::isinf(value) ? "<span class=\"miss\">missed</span>" : text;
}

// The geometric mean of r_s over the base workloads that s reached, and their number.
inline std::pair<double, std::size_t> mean_ratio(const StudyView& view, std::size_t s) {
  double sum = 0;
  std::size_t reached = 0;
  for (const double ratio : view.standings.profile.ratios(s))
    if (std::isfinite(ratio)) sum += std::log(ratio), ++reached;
  return {std::exp(sum / static_cast<double>(reached)), reached};
}

inline std::string ranking_section(const StudyView& view) {
  std::vector<std::vector<std::string>> rows{
      {"submission", "score", "", "95 % interval", "first in", "targets reached", "mean ratio to the shortest time"}};
  for (const std::size_t s : view.standings.order) {
    const Interval interval = view.standings.bootstrap.intervals[s];
    const double score = view.standings.scores[s];
    const auto [ratio, reached] = mean_ratio(view, s);
    const std::string bar = fmt::format(
        "<svg width=\"220\" height=\"18\"><rect x=\"0\" y=\"3\" width=\"{:.1f}\" height=\"12\" rx=\"2\" fill=\"{}\" "
        "opacity=\"0.85\"/><line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"9\" y2=\"9\" stroke=\"#1c2733\" "
        "stroke-width=\"2\"/></svg>",
        200 * score, chart_color(s), 200 * interval.low, 200 * interval.high);
    rows.push_back({view.coloured_name(s), fmt::format("<b>{:.3f}</b>", score), bar,
                    fmt::format("{:.3f} to {:.3f}", interval.low, interval.high),
                    fmt::format("{:.0f} %", 100 * view.standings.bootstrap.winner_share[s]),
                    fmt::format("{} of {}", reached, view.suite().base_count()),
                    reached > 0 ? fmt::format("{:.2f}", ratio) : ""});
  }
  return html_section(
      "Ranking",
      "The score is the normalised area under the performance profile from 1 to 4: 1 for a submission that is the "
      "fastest everywhere, 0 for one that misses or takes more than four times the shortest time everywhere. It is "
      "relative to the submissions in this study. The interval and the share of first places come from a bootstrap "
      "over studies; with few studies, the interval is too narrow. The mean ratio "
      "is geometric, over the targets that were reached.",
      html_table(rows));
}

inline std::string times_section(const StudyView& view) {
  std::vector<std::vector<std::string>> rows{{"submission"}};
  for (const ScoredWorkload& workload : view.suite().workloads)
    rows[0].push_back(fmt::format("{}<br>{} {} {:g}", html_text(workload.name), html_text(workload.metric),
                                  workload.target.lower_is_better ? "&le;" : "&ge;", workload.target.value));
  for (const std::size_t s : view.standings.order) {
    rows.push_back({view.coloured_name(s)});
    for (std::size_t w = 0; w < view.suite().workloads.size(); ++w) {
      const double time = view.standings.times.at(s, w);
      const std::vector<double>& of = view.standings.studies.at(s, w);
      std::string cell = missed_or(time, "<b>" + clock_text(time) + "</b>");
      if (std::isinf(view.standings.counted.at(s, w)) && std::isfinite(time)) cell += " (not counted)";
      if (of.size() > 1)
        cell += fmt::format("<br><small>{} to {}</small>", clock_text(*std::min_element(of.begin(), of.end())),
                            clock_text(*std::max_element(of.begin(), of.end())));
      rows.back().push_back(cell);
    }
  }
  std::string notes;
  for (const std::string& sentence : missing_logs(view.suite(), view.logs))
    notes += "<p>" + html_text(sentence) + ".</p>\n";
  return html_section("Time to target",
                      fmt::format("In {}: the median over studies, and the range below it.", clock_unit(view.clock)),
                      html_table(rows) + notes);
}

inline std::string shared_points_section(const StudyView& view) {
  if (view.suite().base_count() < 2) return "";
  std::vector<std::vector<std::string>> rows{{"submission", "worst ratio"}};
  for (const ScoredWorkload& workload : view.suite().workloads)
    if (workload.is_base()) rows[0].push_back(html_text(workload.name));
  rows[0].push_back("point");
  for (const std::size_t s : view.standings.order) {
    const SharedPoint best = best_shared_point(view.suite(), view.logs, view.names()[s], view.clock);
    rows.push_back({view.coloured_name(s), missed_or(best.worst, fmt::format("<b>{:.2f}</b>", best.worst))});
    for (std::size_t w = 0; w < view.suite().base_count(); ++w)
      rows.back().push_back(best.ratios.empty() ? ""
                                                : missed_or(best.ratios[w], fmt::format("{:.2f}", best.ratios[w])));
    std::string point;
    for (const StudyRecord& record : view.records)
      if (record.submission == view.names()[s] && record.study == best.study && record.trial == best.trial)
        point = html_text(point_text(record.point, ", "));
    rows.back().push_back(best.ratios.empty() ? "" : "<div class=\"point\">" + point + "</div>");
  }
  return html_section("What one shared point costs",
                      "Every point was tried on every workload. The point with the smallest worst case over the "
                      "workloads, as the ratio of its time to target to that of the best point of each workload.",
                      html_table(rows));
}

inline std::string clocks_section(const StudyView& view) {
  std::vector<std::vector<std::string>> rows{{"submission", "workload", "ms per step", "first step, ms",
                                              "evaluations' share", "training s, all trials", "evaluation s"}};
  for (const std::size_t s : view.standings.order)
    for (std::size_t w = 0; w < view.suite().workloads.size(); ++w) {
      std::vector<double> first;
      double training = 0, evaluation = 0;
      for (const StudyRecord& record : view.records) {
        if (record.submission != view.names()[s] || record.workload != view.suite().workloads[w].name) continue;
        if (!record.result.failure.empty() && record.result.evaluations.empty()) continue;
        first.push_back(record.result.first_step_seconds);
        training += record.result.training_seconds;
        evaluation += record.result.evaluation_seconds;
      }
      if (first.empty()) continue;
      rows.push_back({view.coloured_name(s), html_text(view.suite().workloads[w].name),
                      fmt::format("{:.3g}", 1000 * view.standings.step_times.at(s, w)),
                      fmt::format("{:.3g}", 1000 * median(first)),
                      fmt::format("{:.0f} %", 100 * view.standings.evaluation_shares.at(s, w)),
                      fmt::format("{:.1f}", training), fmt::format("{:.1f}", evaluation)});
    }
  return html_section("Clocks",
                      "Medians over trials. Evaluations, logging and set-up are not on the clock; the first step is, "
                      "as part of training.",
                      html_table(rows));
}

inline std::string failures_section(const StudyView& view) {
  std::vector<std::vector<std::string>> rows{{"trial", "failure", "point"}};
  for (const StudyRecord& record : view.records)
    if (!record.result.failure.empty())
      rows.push_back({fmt::format("{} on {}, study {}, trial {}", html_text(record.submission),
                                  html_text(record.workload), record.study + 1, record.trial + 1),
                      html_text(record.result.failure),
                      "<div class=\"point\">" + html_text(point_text(record.point, ", ")) + "</div>"});
  if (rows.size() == 1) return html_section("Failures", "No trial failed.", "");
  return html_section("Failures",
                      fmt::format("{} of {} trials ended early. A trial that diverged keeps the evaluations "
                                  "before that; one that threw, crashed or was killed has none.",
                                  rows.size() - 1, view.records.size()),
                      html_table(rows));
}

}  // namespace algoperf::detail
