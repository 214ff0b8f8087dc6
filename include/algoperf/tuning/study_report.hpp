// The report of a study: a table as text, and a self-contained HTML page. Requires fmt and nlohmann-json.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../core/median.hpp"
#include "../report/html.hpp"
#include "../report/svg_chart.hpp"
#include "../report/table.hpp"
#include "../scoring/missing_logs.hpp"
#include "../scoring/standings.hpp"
#include "shared_point.hpp"
#include "study.hpp"

namespace algoperf {

namespace detail {

inline const char* clock_unit(Clock clock) {
  constexpr const char* units[] = {"training seconds", "steps", "examples", "FLOPs"};
  return units[static_cast<std::size_t>(clock)];
}

inline std::string clock_text(double value) {
  if (std::isinf(value)) return "missed";
  if (std::isnan(value)) return "no logs";
  if (value >= 1e6) return fmt::format("{:.3g}", value);
  return value < 100 ? fmt::format("{:.3g}", value) : fmt::format("{:.0f}", value);
}

inline std::string value_text(const HyperValue& value) {
  if (const double* const number = std::get_if<double>(&value)) return fmt::format("{:.4g}", *number);
  if (const bool* const flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  return std::get<std::string>(value.alternatives());
}
inline std::string point_text(const HyperPoint& point, const char* separator) {
  std::string text;
  for (const auto& [name, value] : point.entries())
    text += (text.empty() ? "" : separator) + name + " = " + value_text(value);
  return text;
}

// Builds the sections of the page.
class StudyPage {
 public:
  StudyPage(const Study& study, const std::vector<StudyRecord>& records, const Standings& standings,
            const std::vector<TrialLog>& logs, Clock clock)
      : study_(study), records_(records), standings_(standings), logs_(logs), clock_(clock) {}

  std::string body(const std::string& title) const {
    return heading(title) + ranking() + times() + profile() + curves() + shared_points() + sensitivity() + clocks() +
           failures();
  }

 private:
  const Suite& suite() const { return standings_.times.suite; }
  const std::vector<std::string>& names() const { return standings_.times.submissions; }
  std::size_t color_of(const std::string& submission) const { return standings_.times.find(submission); }
  std::string keyed(std::size_t s) const {
    return fmt::format("<span class=\"key\" style=\"background:{}\"></span>{}", chart_color(s), html_text(names()[s]));
  }
  std::string keys() const {
    std::string html = "<div class=\"keys\">";
    for (const std::size_t s : standings_.order) html += "<span>" + keyed(s) + "</span>";
    return html + "</div>\n";
  }
  static std::string missed_or(double value, const std::string& text) {
    return std::isinf(value) ? "<span class=\"miss\">missed</span>" : text;
  }

  static std::string counted(std::size_t n, const char* one, const char* many) {
    return fmt::format("{} {}", n, n == 1 ? one : many);
  }

  std::string heading(const std::string& title) const {
    const StudyOptions& options = study_.options();
    std::set<std::string> processors;
    std::size_t jobs = 1;
    for (const StudyRecord& record : records_) {
      processors.insert(record.processor);
      jobs = std::max(jobs, record.jobs);
    }
    std::string machines;
    for (const std::string& processor : processors) machines += (machines.empty() ? "" : "; ") + processor;
    const char* const ruleset = options.ruleset == Ruleset::external ? "external tuning" : "self-tuning";
    std::string text = fmt::format(
        "<h1>{}</h1>\n<p class=\"lead\">{} on {} under the {} ruleset, {} of {} each. A study's time to target is that "
        "of its fastest trial; the median over studies counts. Only training is on the clock, and targets apply to "
        "validation data.</p>\n<p>Clock: {}. {}, {} at a time, on {}.",
        html_text(title), counted(names().size(), "submission", "submissions"),
        counted(suite().workloads.size(), "workload", "workloads"), ruleset,
        counted(options.studies, "study", "studies"), counted(options.trials, "trial", "trials"), clock_unit(clock_),
        counted(records_.size(), "trial", "trials"), jobs, html_text(machines));
    if (clock_ == Clock::time && jobs > 1)
      text += " <b>Trials ran beside each other, which slows them down: run them one at a time to publish seconds.</b>";
    return text + "</p>\n";
  }

  std::string ranking() const {
    std::vector<std::vector<std::string>> rows{
        {"submission", "score", "", "95 % interval", "first in", "targets reached", "mean ratio to the shortest time"}};
    for (const std::size_t s : standings_.order) {
      const Interval interval = standings_.bootstrap.intervals[s];
      const double score = standings_.scores[s];
      const auto [ratio, reached] = mean_ratio(s);
      const std::string bar = fmt::format(
          "<svg width=\"220\" height=\"18\"><rect x=\"0\" y=\"3\" width=\"{:.1f}\" height=\"12\" rx=\"2\" fill=\"{}\" "
          "opacity=\"0.85\"/><line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"9\" y2=\"9\" stroke=\"#1c2733\" "
          "stroke-width=\"2\"/></svg>",
          200 * score, chart_color(s), 200 * interval.low, 200 * interval.high);
      rows.push_back({keyed(s), fmt::format("<b>{:.3f}</b>", score), bar,
                      fmt::format("{:.3f} to {:.3f}", interval.low, interval.high),
                      fmt::format("{:.0f} %", 100 * standings_.bootstrap.winner_share[s]),
                      fmt::format("{} of {}", reached, suite().base_count()),
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
  // The geometric mean of r_s over the base workloads that s reached, and their number.
  std::pair<double, std::size_t> mean_ratio(std::size_t s) const {
    double sum = 0;
    std::size_t reached = 0;
    for (const double ratio : standings_.profile.ratios(s))
      if (std::isfinite(ratio)) sum += std::log(ratio), ++reached;
    return {std::exp(sum / static_cast<double>(reached)), reached};
  }

  std::string times() const {
    std::vector<std::vector<std::string>> rows{{"submission"}};
    for (const ScoredWorkload& workload : suite().workloads)
      rows[0].push_back(fmt::format("{}<br>{} {} {:g}", html_text(workload.name), html_text(workload.metric),
                                    workload.target.lower_is_better ? "&le;" : "&ge;", workload.target.value));
    for (const std::size_t s : standings_.order) {
      rows.push_back({keyed(s)});
      for (std::size_t w = 0; w < suite().workloads.size(); ++w) {
        const double time = standings_.times.at(s, w);
        const std::vector<double>& of = standings_.studies.at(s, w);
        std::string cell = missed_or(time, "<b>" + clock_text(time) + "</b>");
        if (std::isinf(standings_.counted.at(s, w)) && std::isfinite(time)) cell += " (not counted)";
        if (of.size() > 1)
          cell += fmt::format("<br><small>{} to {}</small>", clock_text(*std::min_element(of.begin(), of.end())),
                              clock_text(*std::max_element(of.begin(), of.end())));
        rows.back().push_back(cell);
      }
    }
    std::string notes;
    for (const std::string& sentence : missing_logs(suite(), logs_)) notes += "<p>" + html_text(sentence) + ".</p>\n";
    return html_section("Time to target",
                        fmt::format("In {}: the median over studies, and the range below it.", clock_unit(clock_)),
                        html_table(rows) + notes);
  }

  std::string profile() const {
    SvgChart chart{.x = "ratio to the shortest time",
                   .y = "share of workloads",
                   .width = 700,
                   .height = 340,
                   .least_y = 0,
                   .most_y = 1.04,
                   .most_x = standings_.profile.max_ratio()};
    for (std::size_t s = 0; s < names().size(); ++s) {
      SvgChart::Series series{.color = s, .step = true};
      std::vector<double> ratios{1};
      for (const double ratio : standings_.profile.ratios(s))
        if (ratio <= standings_.profile.max_ratio()) ratios.push_back(ratio);
      ratios.push_back(standings_.profile.max_ratio());
      std::sort(ratios.begin(), ratios.end());
      for (const double ratio : ratios) {
        const double share = standings_.profile.at(s, ratio);
        series.points.push_back({ratio, share,
                                 fmt::format("{}\n{:.0f} % of the workloads within {:.2f} times\nthe shortest time",
                                             names()[s], 100 * share, ratio)});
      }
      chart.series.push_back(series);
    }
    return html_section("Performance profile",
                        "The share of workloads on which a submission takes at most this many times the shortest time.",
                        keys() + draw_svg(chart));
  }

  // Returns the trial that counts for each study: the fastest, or the best if none reached the target.
  std::vector<std::size_t> counted_trials(const std::string& submission, const ScoredWorkload& workload) const {
    std::map<std::size_t, std::size_t> chosen;
    for (std::size_t i = 0; i < records_.size(); ++i) {
      if (records_[i].submission != submission || records_[i].workload != workload.name) continue;
      const auto [at, fresh] = chosen.emplace(records_[i].study, i);
      if (!fresh && better(i, at->second, workload)) at->second = i;
    }
    std::vector<std::size_t> trials;
    for (const auto& [number, i] : chosen) trials.push_back(i);
    return trials;
  }
  bool better(std::size_t a, std::size_t b, const ScoredWorkload& workload) const {
    const Evaluation *const hit_a = first_hit(logs_[a], workload.target), *const hit_b =
                                                                              first_hit(logs_[b], workload.target);
    if (hit_a != nullptr && hit_b != nullptr) return read(clock_, *hit_a) < read(clock_, *hit_b);
    if (hit_a != nullptr || hit_b != nullptr) return hit_a != nullptr;
    const double best_a = best_metric(a, workload), best_b = best_metric(b, workload);
    if (std::isnan(best_a) || std::isnan(best_b)) return std::isnan(best_b) && !std::isnan(best_a);
    return workload.target.lower_is_better ? best_a < best_b : best_a > best_b;
  }
  // NaN if there was no evaluation.
  double best_metric(std::size_t i, const ScoredWorkload& workload) const {
    double best = NAN;
    for (const Evaluation& e : logs_[i].evaluations)
      best = workload.target.lower_is_better ? std::fmin(best, e.metric) : std::fmax(best, e.metric);
    return best;
  }

  std::string curves() const {
    std::string charts = keys() + "<div class=\"grid\">";
    for (const ScoredWorkload& workload : suite().workloads) {
      SvgChart chart{.x = clock_unit(clock_),
                     .y = "validation " + workload.metric,
                     .log_y = workload.target.lower_is_better,
                     .lines = {workload.target.value}};
      for (const std::string& submission : names())
        for (const std::size_t i : counted_trials(submission, workload)) {
          SvgChart::Series series{.color = color_of(submission), .opacity = 0.75};
          for (const Evaluation& e : logs_[i].evaluations)
            series.points.push_back({read(clock_, e), e.metric,
                                     fmt::format("{}, study {}, trial {}\nstep {:.0f}, {:.3g} s\n{} {:.4g}", submission,
                                                 records_[i].study + 1, records_[i].trial + 1, e.step, e.seconds,
                                                 workload.metric, e.metric)});
          chart.series.push_back(std::move(series));
        }
      charts += "<div><h3>" + html_text(workload.name) + "</h3>\n" + draw_svg(chart) + "</div>";
    }
    return html_section("Training curves",
                        "The trial of each study that counts: the fastest to the target, or the best if none reached "
                        "it. The dashed line is the target. Point at a curve for its values.",
                        charts + "</div>\n");
  }

  std::string shared_points() const {
    if (suite().base_count() < 2) return "";
    std::vector<std::vector<std::string>> rows{{"submission", "worst ratio"}};
    for (const ScoredWorkload& workload : suite().workloads)
      if (workload.is_base()) rows[0].push_back(html_text(workload.name));
    rows[0].push_back("point");
    for (const std::size_t s : standings_.order) {
      const SharedPoint best = best_shared_point(suite(), logs_, names()[s], clock_);
      rows.push_back({keyed(s), missed_or(best.worst, fmt::format("<b>{:.2f}</b>", best.worst))});
      for (std::size_t w = 0; w < suite().base_count(); ++w)
        rows.back().push_back(best.ratios.empty() ? ""
                                                  : missed_or(best.ratios[w], fmt::format("{:.2f}", best.ratios[w])));
      std::string point;
      for (const StudyRecord& record : records_)
        if (record.submission == names()[s] && record.study == best.study && record.trial == best.trial)
          point = html_text(point_text(record.point, ", "));
      rows.back().push_back(best.ratios.empty() ? "" : "<div class=\"point\">" + point + "</div>");
    }
    return html_section("What one shared point costs",
                        "Every point was tried on every workload. The point with the smallest worst case over the "
                        "workloads, as the ratio of its time to target to that of the best point of each workload.",
                        html_table(rows));
  }

  std::string sensitivity() const {
    if (study_.options().ruleset != Ruleset::external) return "";
    std::string html = "<div class=\"keys\">";
    for (std::size_t w = 0; w < suite().workloads.size(); ++w)
      html += fmt::format("<span><span class=\"key\" style=\"background:{}\"></span>{}</span>", chart_color(w),
                          html_text(suite().workloads[w].name));
    html += "</div>\n";
    for (const std::size_t s : standings_.order) {
      html += "<h3>" + html_text(names()[s]) + "</h3>\n<div class=\"grid\">";
      for (const std::string& hyperparameter : numeric_hyperparameters(names()[s]))
        html += sensitivity(s, hyperparameter);
      html += "</div>\n";
    }
    return html_section("Sensitivity to hyperparameters",
                        "The best validation metric of each trial, divided by the target (or the target divided by "
                        "it, where higher is better): trials on or below the dashed line reached the target, and "
                        "stopped there. A flat cloud is an insensitive hyperparameter.",
                        html);
  }
  std::vector<std::string> numeric_hyperparameters(const std::string& submission) const {
    std::vector<std::string> found;
    for (const StudyRecord& record : records_)
      if (record.submission == submission)
        for (const auto& [name, value] : record.point.entries())
          if (std::holds_alternative<double>(value.alternatives()) &&
              std::find(found.begin(), found.end(), name) == found.end())
            found.push_back(name);
    return found;
  }
  std::string sensitivity(std::size_t s, const std::string& hyperparameter) const {
    SvgChart chart{.x = hyperparameter,
                   .y = "metric / target",
                   .log_x = true,
                   .log_y = true,
                   .lines = {1},
                   .width = 250,
                   .height = 210};
    for (std::size_t w = 0; w < suite().workloads.size(); ++w) {
      const ScoredWorkload& workload = suite().workloads[w];
      SvgChart::Series series{.color = w, .line = false, .dots = true};
      for (std::size_t i = 0; i < records_.size(); ++i) {
        const StudyRecord& record = records_[i];
        if (record.submission != names()[s] || record.workload != workload.name || !record.point.has(hyperparameter))
          continue;
        const double best = best_metric(i, workload), target = workload.target.value;
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

  std::string clocks() const {
    std::vector<std::vector<std::string>> rows{{"submission", "workload", "ms per step", "first step, ms",
                                                "evaluations' share", "training s, all trials", "evaluation s"}};
    for (const std::size_t s : standings_.order)
      for (std::size_t w = 0; w < suite().workloads.size(); ++w) {
        std::vector<double> first;
        double training = 0, evaluation = 0;
        for (const StudyRecord& record : records_) {
          if (record.submission != names()[s] || record.workload != suite().workloads[w].name) continue;
          if (!record.result.failure.empty() && record.result.evaluations.empty()) continue;
          first.push_back(record.result.first_step_seconds);
          training += record.result.training_seconds;
          evaluation += record.result.evaluation_seconds;
        }
        if (first.empty()) continue;
        rows.push_back({keyed(s), html_text(suite().workloads[w].name),
                        fmt::format("{:.3g}", 1000 * standings_.step_times.at(s, w)),
                        fmt::format("{:.3g}", 1000 * median(first)),
                        fmt::format("{:.0f} %", 100 * standings_.evaluation_shares.at(s, w)),
                        fmt::format("{:.1f}", training), fmt::format("{:.1f}", evaluation)});
      }
    return html_section("Clocks",
                        "Medians over trials. Evaluations, logging and set-up are not on the clock; the first step is, "
                        "as part of training.",
                        html_table(rows));
  }

  std::string failures() const {
    std::vector<std::vector<std::string>> rows{{"trial", "failure", "point"}};
    for (const StudyRecord& record : records_)
      if (!record.result.failure.empty())
        rows.push_back({fmt::format("{} on {}, study {}, trial {}", html_text(record.submission),
                                    html_text(record.workload), record.study + 1, record.trial + 1),
                        html_text(record.result.failure),
                        "<div class=\"point\">" + html_text(point_text(record.point, ", ")) + "</div>"});
    if (rows.size() == 1) return html_section("Failures", "No trial failed.", "");
    return html_section("Failures",
                        fmt::format("{} of {} trials ended early. A trial that diverged keeps the evaluations "
                                    "before that; one that threw, crashed or was killed has none.",
                                    rows.size() - 1, records_.size()),
                        html_table(rows));
  }

  const Study& study_;
  const std::vector<StudyRecord>& records_;
  const Standings& standings_;
  const std::vector<TrialLog>& logs_;
  Clock clock_;
};

}  // namespace detail

// Returns the ranking as text: scores, intervals, and the time to target on each workload.
inline std::string format_standings(const Standings& standings, Clock clock = Clock::time) {
  const TimeTable& times = standings.times;
  std::vector<std::vector<std::string>> rows{{"submission", "score", "95 % interval", "first in"}};
  for (const ScoredWorkload& workload : times.suite.workloads) rows[0].push_back(workload.name);
  for (const std::size_t s : standings.order) {
    const Interval interval = standings.bootstrap.intervals[s];
    rows.push_back({times.submissions[s], fmt::format("{:.3f}", standings.scores[s]),
                    fmt::format("{:.2f} - {:.2f}", interval.low, interval.high),
                    fmt::format("{:.0f} %", 100 * standings.bootstrap.winner_share[s])});
    for (std::size_t w = 0; w < times.suite.workloads.size(); ++w)
      rows.back().push_back(detail::clock_text(times.at(s, w)));
  }
  return format_table(rows) + fmt::format("Times to target in {}.\n", detail::clock_unit(clock));
}

// Writes the report of a study as one HTML file that needs no other: ranking, times to target, performance profile,
// training curves, the cost of a shared point, sensitivity to hyperparameters, clocks and failures. Throws Error if
// there is no record, or if the file cannot be written.
inline void write_study_report(const std::string& path, const std::string& title, const Study& study,
                               const std::vector<StudyRecord>& records, Clock clock = Clock::time) {
  require(!records.empty(), path, ": no trial has ended");
  const std::vector<TrialLog> logs = trial_logs(records);
  const Standings standings = rank_submissions(study.suite(), logs, {.clock = clock});
  write_html(path, title, detail::StudyPage(study, records, standings, logs, clock).body(title));
}

}  // namespace algoperf
