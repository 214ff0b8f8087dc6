// The rules by which held-out variants of workloads affect a score.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "score_grid.hpp"

namespace algoperf {

// Applies AlgoPerf's rules for held-out workloads, in this order; a time that is not counted becomes infinite:
//   1. a variant does not count for a submission that missed the base workload's target;
//   2. on any workload, a time of more than `limit` times the smallest does not count;
//   3. a base workload does not count for a submission whose time on a variant of it does not count.
// A suite without variants stays as it is. A submission without logs has missed the target.
// Source: AlgoPerf v0.5, "Scoring"; the smallest time of rule 2 is that after rule 1.
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
