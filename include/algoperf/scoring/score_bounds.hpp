// Bounds of the benchmark score while some times are not known yet.
#pragma once

#include <cmath>
#include <cstddef>

#include "../core/percentile.hpp"
#include "held_out.hpp"
#include "performance_profile.hpp"

namespace algoperf {

// Returns the lowest and the highest score that a submission can have once all times that are not known (NaN) are
// measured, so that a suite can be scored while it runs. The lower bound assumes that the submission misses all
// targets for which its time is unknown, and that every other submission is arbitrarily fast where its own time is
// unknown. The upper bound assumes the reverse. `times` must not have been through counted_times() yet.
inline Interval score_bounds(const TimeTable& times, std::size_t submission, double max_ratio = 4) {
  double least = INFINITY;
  for (const double time : times.entries) least = std::fmin(least, time);
  const double fast = least < INFINITY ? least / 1e6 : 1;
  const auto score = [&](bool lowest) {
    TimeTable completed = times;
    for (std::size_t s = 0; s < times.submissions.size(); ++s)
      for (std::size_t w = 0; w < times.suite.workloads.size(); ++w)
        if (std::isnan(times.at(s, w))) completed.at(s, w) = (s == submission) == lowest ? INFINITY : fast;
    return PerformanceProfile(counted_times(completed), max_ratio).score(submission);
  };
  return {score(true), score(false)};
}

}  // namespace algoperf
