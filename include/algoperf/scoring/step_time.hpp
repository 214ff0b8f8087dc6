// The time of a training step, and the share of a trial that evaluations take.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "../core/median.hpp"
#include "score_grid.hpp"

namespace algoperf {

namespace detail {

// Returns the median of what each log of a submission and workload adds to a list, or NaN if the list is empty.
template <class Add>
TimeTable medians_of_logs(const StudyTimes& studies, const std::vector<TrialLog>& logs, const Add& add) {
  ScoreGrid<std::vector<double>> lists(studies.suite, studies.submissions);
  for (const TrialLog& log : logs)
    if (const std::size_t w = studies.suite.find(log.workload); w != Suite::none)
      add(log, lists.at(lists.find(log.submission), w));
  TimeTable table(studies.suite, studies.submissions, NAN);
  for (std::size_t i = 0; i < table.entries.size(); ++i)
    if (!lists.entries[i].empty()) table.entries[i] = median(lists.entries[i]);
  return table;
}

}  // namespace detail

// Returns the median, over all evaluations of all trials, of the training seconds since the evaluation before divided
// by the steps since then. Every evaluation must be in the logs. `studies` has the suite and the submissions.
inline TimeTable step_times(const StudyTimes& studies, const std::vector<TrialLog>& logs) {
  return detail::medians_of_logs(studies, logs, [](const TrialLog& log, std::vector<double>& times) {
    Evaluation last;
    for (const Evaluation& now : log.evaluations) {
      if (now.step > last.step) times.push_back((now.seconds - last.seconds) / (now.step - last.step));
      last = now;
    }
  });
}

// Returns the median over trials of e / (e + t), where a trial spent e seconds on evaluation and t on training.
inline TimeTable evaluation_shares(const StudyTimes& studies, const std::vector<TrialLog>& logs) {
  return detail::medians_of_logs(studies, logs, [](const TrialLog& log, std::vector<double>& shares) {
    const double share = log.evaluation_seconds / (log.evaluation_seconds + log.training_seconds);
    if (!std::isnan(share)) shares.push_back(share);
  });
}

}  // namespace algoperf
