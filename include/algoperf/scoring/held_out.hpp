// The rules by which held-out variants of workloads affect a score.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "score_grid.hpp"

namespace algoperf {

// Applies AlgoPerf's rules for held-out workloads, in this order. A time that does not count becomes infinite:
//   1. a submission's time on a variant counts only if the submission reached the base workload's target;
//   2. a time counts only if it is at most `limit` times the shortest time on that workload that rule 1 leaves;
//   3. a submission's time on a base workload counts only if its time on every variant of that workload counts.
// A suite without variants stays as it is. A submission without logs has missed the target.
// Source: AlgoPerf v0.5, "Scoring".
inline TimeTable counted_times(TimeTable times, double limit = 4) {
  for (double& time : times.entries) time = std::isnan(time) ? INFINITY : time;
  const Suite& suite = times.suite;
  if (suite.base_count() == suite.workloads.size()) return times;
  const std::size_t submissions = times.submissions.size();
  const auto each_variant = [&](const auto& visit) {
    for (std::size_t w = 0; w < suite.workloads.size(); ++w)
      if (!suite.workloads[w].is_base())
        for (std::size_t s = 0; s < submissions; ++s)
          visit(times.at(s, w), times.at(s, suite.find(suite.workloads[w].base)));
  };
  each_variant([](double& variant, double base) {
    if (std::isinf(base)) variant = INFINITY;
  });
  for (std::size_t w = 0; w < suite.workloads.size(); ++w) {
    double least = INFINITY;
    for (std::size_t s = 0; s < submissions; ++s) least = std::min(least, times.at(s, w));
    for (std::size_t s = 0; s < submissions; ++s)
      if (times.at(s, w) > limit * least) times.at(s, w) = INFINITY;
  }
  each_variant([](double variant, double& base) {
    if (std::isinf(variant)) base = INFINITY;
  });
  return times;
}

}  // namespace algoperf
