// The noise of the clock: how much the training time of one trial varies from run to run, and beside neighbours.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "../core/median.hpp"
#include "entry.hpp"
#include "worker_pool.hpp"

namespace algoperf {

struct ClockNoise {
  std::size_t runs = 0;
  double mean = 0;       // seconds
  double variation = 0;  // the coefficient of variation: standard deviation / mean

  // Returns the number of runs of each of two trials after which a relative difference of their mean times is
  // significant at the 5 % level: the smallest n with 1.96 variation sqrt(2 / n) <= difference.
  std::size_t runs_for(double difference) const {
    require(difference > 0, "ClockNoise: difference is ", difference, ", expected more than 0");
    const double ratio = 1.96 * variation / difference;
    return static_cast<std::size_t>(std::fmax(1, std::ceil(2 * ratio * ratio)));
  }
};

// Throws Error if there are fewer than two times.
inline ClockNoise clock_noise(const std::vector<double>& seconds) {
  require(seconds.size() >= 2, "clock_noise: there are ", seconds.size(), " times, expected at least 2");
  const double n = static_cast<double>(seconds.size());
  const double mean = std::accumulate(seconds.begin(), seconds.end(), 0.0) / n;
  double squares = 0;
  for (const double s : seconds) squares += (s - mean) * (s - mean);
  return {seconds.size(), mean, std::sqrt(squares / (n - 1)) / mean};
}

// Runs one trial several times from the same seed, `jobs` at a time in processes of their own, and returns the training
// seconds of each run. Throws Error if a run fails.
inline std::vector<double> repeat_trial(const StudyEntry& entry, const HyperPoint& point, const TrialOptions& options,
                                        std::size_t runs, std::size_t jobs = 1) {
  entry.load();
  std::vector<std::size_t> tasks(runs);
  std::iota(tasks.begin(), tasks.end(), std::size_t{0});
  std::vector<double> seconds(runs);
  const auto run = [&](std::size_t) {
    const TrialResult result = entry.run(point, options);
    require(result.failure.empty(), result.failure);
    const double time = result.training_seconds;
    return std::string(reinterpret_cast<const char*>(&time), sizeof time);
  };
  run_in_processes(tasks, jobs, run, [&](const TaskResult& result) {
    require(result.failure.empty(), "repeat_trial: ", entry.submission, " on ", entry.workload.name, ": ",
            result.failure);
    std::memcpy(&seconds[result.task], result.value.data(), sizeof(double));
  });
  return seconds;
}

// Returns the ratio of two median training times: of a trial beside jobs - 1 copies of itself, and of the same trial
// alone. Each is run `runs` times per job. Throws Error if a run fails.
inline double neighbour_slowdown(const StudyEntry& entry, const HyperPoint& point, const TrialOptions& options,
                                 std::size_t jobs, std::size_t runs = 3) {
  const double alone = median(repeat_trial(entry, point, options, runs));
  return median(repeat_trial(entry, point, options, runs * jobs, jobs)) / alone;
}

}  // namespace algoperf
