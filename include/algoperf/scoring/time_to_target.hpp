// Times to target: of trials, of studies, and of submissions on workloads.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "../core/median.hpp"
#include "score_grid.hpp"

namespace algoperf {

enum class Clock { time, steps, examples, flops };  // training seconds; optimizer steps; of forward and backward passes

// Which trial counts for a study.
enum class TrialChoice {
  fastest,        // the one that reaches the target at the smallest value of the clock: AlgoPerf's documented rule
  first_by_index  // the one whose first evaluation at the target has the smallest index: what AlgoPerf's code does. Ties
                  // go to the trial that comes first among the logs.
};

struct TimeRules {
  Clock clock = Clock::time;
  TrialChoice choice = TrialChoice::fastest;
};

inline double read(Clock clock, const Evaluation& evaluation) {
  switch (clock) {
    case Clock::time:
      return evaluation.seconds;
    case Clock::steps:
      return evaluation.step;
    case Clock::examples:
      return evaluation.examples;
    case Clock::flops:
      break;
  }
  return evaluation.flops;
}

// Returns the first evaluation that reaches the target, or null.
inline const Evaluation* first_hit(const TrialLog& log, const Target& target) {
  for (const Evaluation& evaluation : log.evaluations)
    if (target.reached_by(evaluation.metric)) return &evaluation;
  return nullptr;
}

// Returns the time to target of each study that has logs: that of the trial that counts, or infinity if no trial
// reached the target. Logs of workloads that are not in the suite are ignored. Submissions are in the order in which
// they first appear. Throws Error if a trial has two logs, or if an evaluation at the target does not have the clock.
inline StudyTimes study_times(const Suite& suite, const std::vector<TrialLog>& logs, const TimeRules& rules = {}) {
  suite.check();
  std::map<std::string, std::size_t> submissions, workloads;
  for (std::size_t w = 0; w < suite.workloads.size(); ++w) workloads.emplace(suite.workloads[w].name, w);
  std::vector<std::string> names;
  struct BestTrial {
    std::uint64_t index = static_cast<std::uint64_t>(-1);  // of the evaluation that counts
    double time = INFINITY;
    std::map<std::uint64_t, bool> trials = {};
  };
  std::map<std::tuple<std::size_t, std::size_t, std::uint64_t>, BestTrial> studies;
  for (const TrialLog& log : logs) {
    const auto workload = workloads.find(log.workload);
    if (workload == workloads.end()) continue;
    const auto [submission, fresh] = submissions.emplace(log.submission, names.size());
    if (fresh) names.push_back(log.submission);
    BestTrial& study = studies[{submission->second, workload->second, log.study}];
    require(study.trials.emplace(log.trial, true).second, suite.name, ": trial ", log.trial, " of study ", log.study,
            " of ", log.submission, " on ", log.workload, " has two logs");
    const Evaluation* const hit = first_hit(log, suite.workloads[workload->second].target);
    if (hit == nullptr) continue;
    const double time = read(rules.clock, *hit);
    require(time == time, suite.name, ": the logs of ", log.submission, " on ", log.workload,
            " do not have the chosen clock");
    if (rules.choice == TrialChoice::fastest ? time < study.time : hit->index < study.index)
      study.index = hit->index, study.time = time;
  }
  StudyTimes times(suite, names);
  for (const auto& [key, study] : studies) times.at(std::get<0>(key), std::get<1>(key)).push_back(study.time);
  return times;
}

// Returns the medians over studies. The median of an even number of studies is the mean of the middle two, which is
// infinite if one of them is.
inline TimeTable median_times(const StudyTimes& studies) {
  TimeTable table(studies.suite, studies.submissions, NAN);
  for (std::size_t i = 0; i < table.entries.size(); ++i)
    if (!studies.entries[i].empty()) table.entries[i] = median(studies.entries[i]);
  return table;
}

}  // namespace algoperf
