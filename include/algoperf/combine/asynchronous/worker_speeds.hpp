// WorkerSpeeds: how long the steps of simulated workers take, and the seconds of synchronous training with them.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "../../core/error.hpp"
#include "../../core/random.hpp"

namespace algoperf {

// Step k of worker w takes seconds * slowdown (if w is one of the last `stragglers` workers) * a random factor of mean
// 1, log-normal with parameter `spread`. The factors depend on the seed, w and k alone. seconds > 0, spread >= 0,
// slowdown >= 1; there are at least one worker and at most as many stragglers as workers.
struct WorkerSpeeds {
  std::size_t workers = 4;
  double seconds = 1;
  double spread = 0;
  std::size_t stragglers = 0;
  double slowdown = 1;
  std::uint64_t seed = 0;

  void check() const {
    require(workers >= 1, "WorkerSpeeds: workers is 0, expected at least 1");
    require_more_than(0, "WorkerSpeeds", "seconds", seconds);
    require_at_least(0, "WorkerSpeeds", "spread", spread);
    require_at_least(1, "WorkerSpeeds", "slowdown", slowdown);
    require(stragglers <= workers, "WorkerSpeeds: there are ", stragglers, " stragglers among ", workers, " workers");
  }
  double step_seconds(std::size_t worker, std::uint64_t step) const {
    const double mean = worker + stragglers >= workers ? seconds * slowdown : seconds;
    if (spread == 0) return mean;
    RandomStream random(RandomKey{seed}.fold(worker).fold(step));
    return mean * std::exp(spread * random.normal() - spread * spread / 2);
  }
};

// Returns the seconds of the first `steps` steps of synchronous training. After every `every` steps (1 for the mean of
// gradients, LocalSteps::every for local steps), the workers wait for the slowest one and communicate for
// `communication` seconds. They also wait at the end.
inline double synchronous_seconds(const WorkerSpeeds& speeds, std::uint64_t steps, double communication = 0,
                                  std::uint64_t every = 1) {
  speeds.check();
  require(every >= 1, "synchronous_seconds: every is 0, expected at least 1");
  double total = 0;
  for (std::uint64_t first = 0; first < steps; first += every) {
    double slowest = 0;
    for (std::size_t w = 0; w < speeds.workers; ++w) {
      double own = 0;
      for (std::uint64_t k = first; k < first + every && k < steps; ++k) own += speeds.step_seconds(w, k);
      slowest = own > slowest ? own : slowest;
    }
    total += steps - first < every ? slowest : slowest + communication;
  }
  return total;
}

}  // namespace algoperf
