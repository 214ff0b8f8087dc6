// Standings: everything that a ranking of submissions consists of.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "held_out.hpp"
#include "performance_profile.hpp"
#include "score_bootstrap.hpp"
#include "step_time.hpp"
#include "time_to_target.hpp"

namespace algoperf {

struct Standings {
  StudyTimes studies;    // times to target of each study
  TimeTable times;       // their medians
  TimeTable counted;     // after the rules for held-out workloads
  TimeTable step_times;  // seconds
  TimeTable evaluation_shares;
  PerformanceProfile profile;
  std::vector<double> scores;
  ScoreBootstrap bootstrap;
  std::vector<std::size_t> order;  // submissions, the highest score first; equal scores by geometric mean time
};

// Ranks the submissions of logs. Throws Error as study_times and bootstrap_scores do.
inline Standings rank_submissions(const Suite& suite, const std::vector<TrialLog>& logs, const TimeRules& rules = {},
                                  const ScoreBootstrapOptions& options = {}) {
  const StudyTimes studies = study_times(suite, logs, rules);
  const TimeTable times = median_times(studies), counted = counted_times(times);
  Standings standings{.studies = studies,
                      .times = times,
                      .counted = counted,
                      .step_times = step_times(studies, logs),
                      .evaluation_shares = evaluation_shares(studies, logs),
                      .profile = PerformanceProfile(counted, options.max_ratio),
                      .scores = {},
                      .bootstrap = bootstrap_scores(studies, options),
                      .order = std::vector<std::size_t>(studies.submissions.size())};
  std::vector<double> ratios;
  for (std::size_t s = 0; s < studies.submissions.size(); ++s) {
    standings.scores.push_back(standings.profile.score(s, options.integral));
    double product = 0;
    for (const double ratio : standings.profile.ratios(s)) product += std::log(ratio);
    ratios.push_back(product);
  }
  std::iota(standings.order.begin(), standings.order.end(), std::size_t{0});
  std::stable_sort(standings.order.begin(), standings.order.end(), [&](std::size_t a, std::size_t b) {
    const double more = standings.scores[a] - standings.scores[b];
    return more != 0 ? more > 0 : ratios[a] < ratios[b];
  });
  return standings;
}

}  // namespace algoperf
