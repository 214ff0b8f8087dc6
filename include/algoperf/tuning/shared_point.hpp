// The cost of sharing one point of hyperparameters over all workloads.
#pragma once

#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../scoring/time_to_target.hpp"

namespace algoperf {

struct SharedPoint {
  std::uint64_t study = 0, trial = 0;  // of the point
  std::vector<double> ratios = {};     // by base workload, in the order of the suite
  double worst = INFINITY;             // the largest of them
};

// Returns the point of a submission that is best in the worst case over the base workloads: among the points that were
// tried on all of them, the one with the smallest
//   max over w of t(point, w) / min over points q of t(q, w),
// where t is the time to target. `worst` is infinite if no point reached all targets. Source: after Dahl et al. 2023,
// Table 4, which compares final losses instead of times.
inline SharedPoint best_shared_point(const Suite& suite, const std::vector<TrialLog>& logs,
                                     const std::string& submission, Clock clock = Clock::time) {
  std::vector<const ScoredWorkload*> workloads;
  for (const ScoredWorkload& workload : suite.workloads)
    if (workload.is_base()) workloads.push_back(&workload);
  std::vector<double> least(workloads.size(), INFINITY);
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<double>> points;  // times, by study and trial
  for (const TrialLog& log : logs)
    for (std::size_t w = 0; w < workloads.size(); ++w) {
      if (log.submission != submission || log.workload != workloads[w]->name) continue;
      const Evaluation* const hit = first_hit(log, workloads[w]->target);
      if (hit == nullptr) continue;
      std::vector<double>& times = points[{log.study, log.trial}];
      times.resize(workloads.size(), INFINITY);
      times[w] = read(clock, *hit);
      least[w] = std::fmin(least[w], times[w]);
    }
  SharedPoint best;
  for (const auto& [key, times] : points) {
    SharedPoint point{.study = key.first, .trial = key.second, .worst = 0};
    for (std::size_t w = 0; w < workloads.size(); ++w) {
      point.ratios.push_back(std::isinf(times[w]) ? INFINITY : times[w] / least[w]);
      point.worst = std::fmax(point.worst, point.ratios[w]);
    }
    if (best.ratios.empty() || point.worst < best.worst) best = point;
  }
  return best;
}

}  // namespace algoperf
