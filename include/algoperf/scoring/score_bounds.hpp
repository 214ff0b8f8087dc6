// Bounds of the benchmark score while some times are not known yet.
#pragma once

#include <cmath>
#include <cstddef>

#include "../core/percentile.hpp"
#include "held_out.hpp"
#include "performance_profile.hpp"

namespace algoperf {

// Returns the lowest and the highest score that a submission can have once all times that are not known (NaN) are
// measured, so that a suite can be scored while it runs. The score is lowest if the submission misses every target
// that it has not run for, and the other submissions become arbitrarily fast where they have not run; it is highest if
// they miss instead and the submission becomes arbitrarily fast. Times are those before the rules for held-out
// workloads.
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
