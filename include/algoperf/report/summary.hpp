// Summaries over seeds: medians with their range. A missed target counts as infinite, as in the scoring of the
// MLCommons AlgoPerf benchmark.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "../core/error.hpp"
#include "concept.hpp"
#include "spread.hpp"

namespace algoperf {

// The results of one rule over its seeds.
struct Summary {
  std::string rule;
  std::size_t trials = 0, reached = 0;
  std::vector<std::uint64_t> diverged = {};  // the steps at which trials diverged
  Spread steps = {}, seconds = {}, evaluation_seconds = {}, best_metric = {};
  double ratio = 0;  // median seconds / the smallest median of all rules; infinite if the target was missed
};

// Returns one summary per rule, in the order in which rules first appear. Throws Error if the trials of a rule have
// different targets: tabulate workloads separately.
inline std::vector<Summary> summarize(const std::vector<Trial>& trials) {
  std::vector<Summary> summaries;
  for (const Trial& first : trials) {
    const auto known = [&](const Summary& s) { return s.rule == first.rule; };
    if (std::any_of(summaries.begin(), summaries.end(), known)) continue;
    std::vector<double> steps, seconds, evaluation, best;
    Summary summary{.rule = first.rule};
    for (const Trial& trial : trials) {
      if (trial.rule != first.rule) continue;
      require(trial.target.value == trial.target.value, "summarize: a target of '", first.rule, "' is NaN");
      require(trial.target == first.target, "summarize: trials of '", first.rule, "' have targets ", first.target.value,
              first.target.lower_is_better ? " or less" : " or more", " and ", trial.target.value,
              trial.target.lower_is_better ? " or less" : " or more");
      ++summary.trials;
      summary.reached += trial.hit() != nullptr;
      if (trial.run.diverged_at() > 0) summary.diverged.push_back(trial.run.diverged_at());
      steps.push_back(trial.steps_to_target());
      seconds.push_back(trial.seconds_to_target());
      evaluation.push_back(trial.run.evaluation_seconds);
      best.push_back(trial.run.evaluated ? trial.run.best.metric : Trial::missed);
    }
    summary.steps = spread(steps);
    summary.seconds = spread(seconds);
    summary.evaluation_seconds = spread(evaluation);
    summary.best_metric = spread(best);
    summaries.push_back(summary);
  }
  double least = Trial::missed;
  for (const Summary& s : summaries) least = std::min(least, s.seconds.median);
  for (Summary& s : summaries) s.ratio = s.seconds.median < Trial::missed ? s.seconds.median / least : Trial::missed;
  return summaries;
}

}  // namespace algoperf
