// A submission with a combiner, whose steps to a target follow a known law of the workers and the learning rate, up to
// a factor that depends on the seed.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "../batch_size/known_scaling.hpp"
#include "algoperf/tuning/workers/worker_scaling.hpp"

struct KnownCombiner {
  std::string combiner;
  double exponent;  // of the best learning rate, in the batch size

  // Steps of a run are at most 10 % above those of the law.
  static double factor(std::uint64_t seed) { return 1 + static_cast<double>(seed % 64) / 640; }
  KnownScaling law() const {
    KnownScaling known;
    known.name = "rule+" + combiner;
    known.exponent = exponent;
    known.rate = 0.1 / std::pow(8, exponent);  // 0.1 with one worker, of 8 examples
    known.low = 1e-2, known.high = 10;
    return known;
  }
  algoperf::StudyEntry entry() const {
    const KnownScaling known = law();
    algoperf::StudyEntry entry = known.entry();
    entry.run = [known](const algoperf::HyperPoint& point, const algoperf::TrialOptions& options) {
      algoperf::require(options.workers * 8 == options.batch_size, "other workers");
      KnownScaling slower = known;
      if (!options.stop_at_target) slower.least_steps *= factor(options.seed);
      return slower.run(point, options);
    };
    return entry;
  }
};

// The best learning rate is proportional to the workers for the mean, constant for the sum, and between for Adasum.
inline const std::vector<KnownCombiner> known_combiners{{"mean", 1}, {"sum", 0}, {"adasum", 0.25}};

inline algoperf::WorkerScaling known_workers(const algoperf::WorkerScalingOptions& options) {
  algoperf::WorkerScaling study(options);
  for (const KnownCombiner& known : known_combiners) study.add("rule", known.combiner, known.entry());
  return study;
}
inline algoperf::WorkerScalingOptions known_worker_options(const std::string& folder) {
  return {.folder = folder,
          .workers = algoperf::powers_of_two(1, 32),
          .examples_per_worker = 8,
          .examples = 64000,
          .trials = 30,
          .seeds = 5,
          .jobs = 0};
}
