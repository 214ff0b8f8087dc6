// find_target: sets the target of a workload by a search. Requires nlohmann-json; POSIX only.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "../core/median.hpp"
#include "entry.hpp"
#include "tune.hpp"

namespace algoperf {

struct TargetOptions {
  std::size_t points = 200;  // of each submission's search space
  std::size_t seeds = 20;    // runs of the best point
  std::uint64_t seed = 1;
  TrialOptions trial = {};  // steps = 0: 0.75 of the step hint, also for schedules. Trials do not stop at a target
  std::size_t jobs = 1;
  std::string folder = {};  // for journals, from which a search that was killed continues; empty: none

  void check() const {
    require(points >= 1, "TargetOptions: points is 0, expected at least 1");
    require(seeds >= 1, "TargetOptions: seeds is 0, expected at least 1");
  }
};

struct FoundTarget {
  Target target;                // the median of `metrics`
  std::string submission;       // with the best trial of the search
  HyperPoint point;             // of that trial
  std::vector<double> metrics;  // the best validation metric of each run of the point
};

// Searches the spaces of submissions on one workload, runs the best point again with other seeds, and returns the
// median of the best validation metrics of these runs as a target. About half of the runs of this point then reach the
// target within their budget. All entries must have the same workload. Throws Error if there is no entry, if the
// workloads differ, or if every trial or every run fails. Source: Dahl et al. 2023, section 5: AdamW, NAdamW, Nesterov
// and heavy ball, 200 points, 20 seeds, runs of 0.75 of the budget.
inline FoundTarget find_target(const std::vector<StudyEntry>& entries, const TargetOptions& options = {}) {
  options.check();
  require(!entries.empty(), "find_target: there is no entry");
  const ScoredWorkload& workload = entries.front().workload;
  for (const StudyEntry& entry : entries)
    require(entry.workload.name == workload.name, "find_target: the entries have the workloads '", workload.name,
            "' and '", entry.workload.name, "', expected one");
  const bool lower = workload.target.lower_is_better;
  if (!options.folder.empty()) std::filesystem::create_directories(options.folder);
  entries.front().load();
  TrialOptions trial = options.trial;
  trial.stop_at_target = false;
  if (trial.steps == 0) {
    trial.budget_factor *= 0.75;
    trial.step_hint_factor *= 0.75;
  }

  const nlohmann::ordered_json function{{"metric", workload.metric},
                                        {"steps", trial.steps},
                                        {"seconds", trial.seconds},
                                        {"budget_factor", trial.budget_factor},
                                        {"step_hint", entries.front().step_hint},
                                        {"step_hint_factor", trial.step_hint_factor},
                                        {"batch_size", entries.front().batch_size},
                                        {"evaluate_every", trial.evaluate_every}};
  const auto search = [&](const std::string& name, const SearchSpace& space, std::size_t count, const auto& run) {
    return tune(space,
                {.trials = count,
                 .seed = options.seed,
                 .jobs = options.jobs,
                 .lower_is_better = lower,
                 .journal = options.folder.empty() ? "" : options.folder + "/" + workload.name + "_" + name + ".jsonl",
                 .function = function.dump()},
                run);
  };
  const auto best_metric = [&](const StudyEntry& entry, const HyperPoint& point, std::uint64_t seed) {
    TrialOptions with_seed = trial;
    with_seed.seed = RandomKey{options.seed}.fold(seed).value;
    double best = NAN;
    for (const EvaluationReport& e : entry.run(point, with_seed).evaluations)
      best = lower ? std::fmin(best, e.metric) : std::fmax(best, e.metric);
    return best;
  };

  const StudyEntry* winner = nullptr;
  TunedTrial best;
  for (const StudyEntry& entry : entries) {
    const TunedTrial found = search(entry.submission, entry.space, options.points, [&](const HyperPoint& point) {
                               return best_metric(entry, point, 0);
                             }).best();
    if (winner == nullptr || better(found.value, best.value, lower)) winner = &entry, best = found;
  }
  std::vector<HyperPoint> seeds;
  for (std::size_t i = 1; i <= options.seeds; ++i) seeds.push_back({{"seed", i}});
  const Tuning runs = search(winner->submission + "_point_" + std::to_string(best.trial), SearchSpace(seeds),
                             options.seeds, [&](const HyperPoint& point) {
                               return best_metric(*winner, best.point, static_cast<std::uint64_t>(point["seed"]));
                             });
  (void)runs.best();  // throws if every run failed
  FoundTarget found{.target = workload.target, .submission = winner->submission, .point = best.point, .metrics = {}};
  for (const TunedTrial& run : runs.trials)
    if (!std::isnan(run.value)) found.metrics.push_back(run.value);
  found.target.value = median(found.metrics);
  return found;
}

}  // namespace algoperf
