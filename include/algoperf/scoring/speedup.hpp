// Geometric-mean speedup of one submission over another.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "score_grid.hpp"

namespace algoperf {

// Returns the geometric mean, over the base workloads, of the baseline's time divided by the submission's. A miss
// counts as `miss_times[w]`, the time of workload w of the suite that a run without a hit takes, such as its budget.
// Throws Error if there is not a positive and finite one for each base workload.
inline double geometric_mean_speedup(const TimeTable& times, std::size_t submission, std::size_t baseline,
                                     const std::vector<double>& miss_times) {
  const Suite& suite = times.suite;
  require(miss_times.size() == suite.workloads.size(), suite.name, ": there are ", miss_times.size(),
          " times of misses for ", suite.workloads.size(), " workloads");
  double sum = 0;
  for (std::size_t w = 0; w < suite.workloads.size(); ++w) {
    if (!suite.workloads[w].is_base()) continue;
    require(miss_times[w] > 0 && miss_times[w] < INFINITY, suite.name, ": a miss on '", suite.workloads[w].name,
            "' counts as ", miss_times[w], ", expected a positive, finite time");
    const auto time = [&](std::size_t s) { return times.at(s, w) < INFINITY ? times.at(s, w) : miss_times[w]; };
    sum += std::log(time(baseline) / time(submission));
  }
  return std::exp(sum / static_cast<double>(suite.base_count()));
}

}  // namespace algoperf
