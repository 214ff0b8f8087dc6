// The report of a study: a table as text, and a self-contained HTML page. Requires fmt and nlohmann-json.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "../report/html.hpp"
#include "../report/table.hpp"
#include "../scoring/standings.hpp"
#include "study.hpp"
#include "study_logs.hpp"
#include "study_report/charts.hpp"
#include "study_report/tables.hpp"
#include "study_report/view.hpp"

namespace algoperf {

namespace detail {

inline std::string count_of(std::size_t n, const char* one, const char* many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

inline std::string study_heading(const StudyView& view, const std::string& title) {
  const StudyOptions& options = view.study.options();
  std::set<std::string> processors;
  std::size_t jobs = 1;
  for (const StudyRecord& record : view.records) {
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
      html_text(title), count_of(view.names().size(), "submission", "submissions"),
      count_of(view.suite().workloads.size(), "workload", "workloads"), ruleset,
      count_of(options.studies, "study", "studies"), count_of(options.trials, "trial", "trials"),
      clock_unit(view.clock), count_of(view.records.size(), "trial", "trials"), jobs, html_text(machines));
  if (view.clock == Clock::time && jobs > 1)
    text += " <b>Trials ran beside each other, which slows them down: run them one at a time to publish seconds.</b>";
  return text + "</p>\n";
}

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
  const detail::StudyView view{study, records, standings, logs, clock};
  write_html(path, title,
             detail::study_heading(view, title) + detail::ranking_section(view) + detail::times_section(view) +
                 detail::profile_section(view) + detail::curves_section(view) + detail::shared_points_section(view) +
                 detail::sensitivity_section(view) + detail::clocks_section(view) + detail::failures_section(view));
}

}  // namespace algoperf
