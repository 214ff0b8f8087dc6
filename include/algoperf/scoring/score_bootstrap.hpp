// Intervals of benchmark scores by a bootstrap over studies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../core/percentile.hpp"
#include "../core/random.hpp"
#include "held_out.hpp"
#include "performance_profile.hpp"
#include "time_to_target.hpp"

namespace algoperf {

struct ScoreBootstrapOptions {
  std::size_t samples = 1000;
  double level = 0.95;
  std::uint64_t seed = 1;
  Integral integral = Integral::exact;
  double max_ratio = 4;
};

struct ScoreBootstrap {
  std::vector<Interval> intervals;   // of each submission's score, by percentiles
  std::vector<double> winner_share;  // share of the samples in which each submission has the highest score; submissions
                                     // that tie share the sample
};

// Draws studies with replacement, for each submission and workload by itself, and computes all scores again. Says how
// far scores depend on the studies that happened to be run; with five studies or fewer, the intervals are too
// narrow. The same options give the same result on every machine. Throws Error if an option is out of range.
inline ScoreBootstrap bootstrap_scores(const StudyTimes& studies, const ScoreBootstrapOptions& options = {}) {
  require(options.samples > 0, "bootstrap_scores: samples is 0, expected at least 1");
  const std::size_t submissions = studies.submissions.size();
  std::vector<std::vector<double>> scores(submissions);
  ScoreBootstrap result{{}, std::vector<double>(submissions)};
  StudyTimes drawn = studies;
  for (std::size_t sample = 0; sample < options.samples; ++sample) {
    RandomStream random(RandomKey{options.seed}.fold(sample));
    for (std::size_t i = 0; i < studies.entries.size(); ++i)
      for (double& time : drawn.entries[i]) {
        const std::vector<double>& from = studies.entries[i];
        time = from[random.below(static_cast<std::uint32_t>(from.size()))];
      }
    const PerformanceProfile profile(counted_times(median_times(drawn)), options.max_ratio);
    double most = -1;
    std::size_t winners = 0;
    for (std::size_t s = 0; s < submissions; ++s) {
      const double score = profile.score(s, options.integral);
      scores[s].push_back(score);
      if (score > most) most = score, winners = 0;
      winners += score == most;
    }
    for (std::size_t s = 0; s < submissions; ++s)
      if (scores[s].back() == most) result.winner_share[s] += 1 / static_cast<double>(winners * options.samples);
  }
  for (const std::vector<double>& of : scores) result.intervals.push_back(percentile_interval(of, options.level));
  return result;
}

}  // namespace algoperf
