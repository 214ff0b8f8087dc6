// BatchSizeScaling: measures the steps to a target as a function of the batch size, with hyperparameters tuned anew for
// each batch size. Source: Shallue et al. 2019 (arXiv:1811.03600), section 4. Requires nlohmann-json; POSIX only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../entry.hpp"
#include "../journal.hpp"
#include "../search_space_json.hpp"
#include "../study_record.hpp"
#include "../task_runner.hpp"
#include "../worker_pool.hpp"
#include "batch_scaling.hpp"
#include "batch_search.hpp"
#include "batch_size_scaling_options.hpp"

namespace algoperf {

// Adds submissions on workloads, then runs every trial that is not in the journal yet:
//   BatchSizeScaling study({.folder = "out", .batch_sizes = powers_of_two(1, 1024), .trials = 25, .jobs = 2});
//   study.add(GlyphDigits{}, ConstantSgd{}, ConstantMomentum{}, MySubmission{});
//   for (const BatchScaling& found : study.run()) ...
// A trial gets the batch size as WorkloadFacts::batch_size and its budget as step hint. Each batch size has its own
// points, and its own search beyond the edges of the space. A trial that diverges is replaced by the next point, until
// `trials` are complete or twice as many were tried. Which points are tried depends on no timing, so it is the same for
// any number of jobs. Each finished trial is a line of FOLDER/journal.jsonl; run the program again to continue.
// Journals of shards are joined by merge_journals; a study of their union, with shards = 1, then repeats no trial.
class BatchSizeScaling {
 public:
  using Json = nlohmann::ordered_json;

  // Throws Error if an option is out of range.
  explicit BatchSizeScaling(BatchSizeScalingOptions options) : options_(std::move(options)) { options_.check(); }

  // Adds submissions on a workload. Throws Error if a submission was added to a workload of this name before, or if its
  // search space is a list of points.
  template <class W, class... S>
  requires(sizeof...(S) > 0) void add(const W& workload, const S&... submissions) {
    const auto entry = detail::workload_entry(workload);
    (add(detail::with_submission(entry, submissions), detail::widest_space_of(submissions)), ...);
  }
  // `widest`: ranges that a widened search never leaves; those of the submission's widest_space(), if there is one. A
  // result of entry.run whose failure is set and whose total_seconds is 0 counts as a fault, any other failure as
  // divergence.
  void add(const StudyEntry& entry, const std::vector<Hyperparameter>& widest = {}) {
    for (const Cell& other : cells_)
      require(other.entry.submission != entry.submission || other.entry.workload.name != entry.workload.name,
              "BatchSizeScaling: submission '", entry.submission, "' was added to workload '", entry.workload.name,
              "' twice");
    require(entry.space.listed().empty(), "BatchSizeScaling: the search space of submission '", entry.submission,
            "' is a list of points, expected ranges");
    for (const Hyperparameter& limit : widest) {
      const auto& ranges = entry.space.hyperparameters();
      const auto same = [&](const Hyperparameter& range) { return range.name == limit.name; };
      require(std::any_of(ranges.begin(), ranges.end(), same), "BatchSizeScaling: the widest space of submission '",
              entry.submission, "' has '", limit.name, "', which its search space lacks");
    }
    cells_.push_back({entry, widest});
  }

  // Runs the trials that are missing, calls progress(finished, known) after each (on the root of a runner), where
  // `known` counts the trials of this run that are planned so far, and returns the trials of each submission. Throws
  // Error if the journal belongs to another study, or if a batch size exceeds the examples of a workload. `dispatch`
  // runs tasks as run_in_processes does: dispatch(tasks, function, done).
  template <class Progress, class Dispatch>
  std::vector<BatchScaling> run(const Progress& progress, const Dispatch& dispatch) {
    require(!cells_.empty(), "BatchSizeScaling: there is no submission");
    const auto opened = detail::open_journal(options_.runner, path(), settings(), options_.sync);
    Journal& journal = *opened;
    for (const Cell& cell : cells_) {
      const std::size_t examples = cell.entry.facts().examples;
      require(options_.batch_sizes.back() <= examples, "BatchSizeScaling: batch size ", options_.batch_sizes.back(),
              " exceeds the ", examples, " examples of workload '", cell.entry.workload.name, "'");
    }
    start();
    for (const auto& [trial, json] : journal.records()) keep(trial, json);
    std::size_t finished = 0;
    for (std::vector<std::size_t> tasks; !(tasks = plan()).empty();) {
      for (const Cell& cell : cells_)
        if (std::any_of(tasks.begin(), tasks.end(), [&](std::size_t trial) { return &cell_of(trial) == &cell; }))
          cell.entry.load();
      const std::size_t known = finished + tasks.size();
      const auto work = [&](std::size_t trial) { return detail::to_json(train(trial)).dump(); };
      dispatch(tasks, work, [&](const TaskResult& task) {
        Json record = describe(task.task);
        TrialResult failed;
        failed.failure = task.failure;
        record.update(task.failure.empty() ? Json::parse(task.value) : detail::to_json(failed));
        journal.append(task.task, record);
        keep(task.task, record);
        ++finished;
        if (is_root(options_.runner)) progress(finished, known);
      });
    }
    return collect();
  }
  template <class Progress>
  std::vector<BatchScaling> run(const Progress& progress) {
    return run(progress, [this](const auto& tasks, const auto& work, const auto& done) {
      detail::run_tasks(options_.runner, options_.jobs, tasks, work, done);
    });
  }
  std::vector<BatchScaling> run() {
    return run([](std::size_t, std::size_t) {});
  }

  const BatchSizeScalingOptions& options() const { return options_; }
  std::string path() const { return options_.folder + "/journal.jsonl"; }
  // Returns the steps of a trial.
  std::uint64_t budget(const StudyEntry& entry, std::size_t batch) const {
    const std::uint64_t hinted = entry.step_hint * entry.batch_size;
    const std::uint64_t examples = options_.examples > 0 ? options_.examples : 2 * hinted;
    const std::uint64_t least = options_.least_steps > 0 ? options_.least_steps : entry.step_hint;
    return std::max<std::uint64_t>({(examples + batch - 1) / batch, least, 1});
  }

 private:
  struct Cell {
    StudyEntry entry;
    std::vector<Hyperparameter> widest;
    std::vector<detail::BatchSearch> searches = {};  // by batch size
  };
  struct Known {
    TrialResult result;
    Json point;
  };

  void start() {
    results_.clear();
    for (Cell& cell : cells_) {
      cell.searches.clear();
      for (const std::size_t batch : options_.batch_sizes) {
        const RandomKey key = RandomKey{options_.seed}
                                  .fold(detail::hash_text(cell.entry.workload.name))
                                  .fold(detail::hash_text(cell.entry.submission))
                                  .fold(batch);
        cell.searches.emplace_back(options_, batch, cell.entry.workload.target, key.value, cell.entry.space,
                                   cell.widest);
      }
    }
  }

  // Trials are numbered by submission, batch size and point.
  std::size_t per_search() const { return (options_.widenings + 1) * 2 * options_.trials; }
  std::size_t per_cell() const { return options_.batch_sizes.size() * per_search(); }
  const Cell& cell_of(std::size_t trial) const { return cells_[trial / per_cell()]; }
  const detail::BatchSearch& search_of(std::size_t trial) const {
    return cell_of(trial).searches[trial % per_cell() / per_search()];
  }
  const HyperPoint& point_of(std::size_t trial) const { return search_of(trial).point(trial % per_search()); }

  // Returns the trials that can run now.
  std::vector<std::size_t> plan() {
    std::vector<std::size_t> trials;
    std::size_t search = 0;
    for (Cell& cell : cells_)
      for (detail::BatchSearch& each : cell.searches) {
        const std::size_t first = search * per_search();
        const bool of_shard = search++ % options_.shards == options_.shard;
        for (const std::size_t point : each.missing([&](std::size_t p) { return result_of(first + p); }))
          if (of_shard) trials.push_back(first + point);
      }
    return trials;
  }
  const TrialResult* result_of(std::size_t trial) const {
    const auto known = results_.find(trial);
    if (known == results_.end()) return nullptr;
    require(known->second.point == to_json(point_of(trial)), path(), ": trial ", trial,
            " has another point than this study");
    return &known->second.result;
  }

  TrialResult train(std::size_t trial) const {
    const detail::BatchSearch& search = search_of(trial);
    const StudyEntry& entry = cell_of(trial).entry;
    const std::uint64_t steps = budget(entry, search.batch());
    return entry.run(point_of(trial), {.seed = search.seed_of(trial % per_search()),
                                       .steps = steps,
                                       .evaluate_every = steps / 512 + 1,
                                       .evaluate_growth = options_.evaluate_growth,
                                       .batch_size = search.batch(),
                                       .workers = options_.workers(search.batch()),
                                       .stop_at_target = options_.stop_at_target,
                                       .threads = options_.threads});
  }

  Json describe(std::size_t trial) const {
    const StudyEntry& entry = cell_of(trial).entry;
    return {{"submission", entry.submission},
            {"workload", entry.workload.name},
            {"batch_size", search_of(trial).batch()},
            {"point", to_json(point_of(trial))}};
  }
  void keep(std::size_t trial, const Json& json) {
    require(trial < cells_.size() * per_cell(), path(), ": there is no trial ", trial);
    try {
      results_.emplace(trial, Known{detail::trial_result(json), json.value("point", Json())});
    } catch (const Json::exception& error) {
      fail(path(), ": the record of trial ", trial, " is damaged: ", error.what());
    }
  }

  std::vector<BatchScaling> collect() const {
    std::vector<BatchScaling> all;
    for (const Cell& cell : cells_) {
      BatchScaling found{cell.entry.submission, cell.entry.workload, cell.entry.facts().examples, cell.entry.space};
      for (const detail::BatchSearch& search : cell.searches) {
        found.studies.push_back(search.study());
        found.budgets.push_back(budget(cell.entry, search.batch()));
        const std::vector<Widening> widenings = search.widenings();
        found.widenings.insert(found.widenings.end(), widenings.begin(), widenings.end());
        found.failures.insert(found.failures.end(), search.failures().begin(), search.failures().end());
      }
      all.push_back(std::move(found));
    }
    return all;
  }

  // What must not change when a study continues.
  Json settings() const {
    constexpr const char* searches[] = {"halton", "sobol", "random", "official"};
    Json cells = Json::array();
    for (const Cell& cell : cells_)
      cells.push_back({{"submission", cell.entry.submission},
                       {"workload", cell.entry.workload.name},
                       {"target", cell.entry.workload.target.value},
                       {"lower_is_better", cell.entry.workload.target.lower_is_better},
                       {"metric", cell.entry.workload.metric},
                       {"step_hint", cell.entry.step_hint},
                       {"batch_size", cell.entry.batch_size},
                       {"space", to_json(cell.entry.space)},
                       {"widest", cell.widest.empty() ? Json(nullptr) : to_json(SearchSpace(cell.widest))}});
    return {{"batch_sizes", options_.batch_sizes},
            {"examples_per_worker", options_.examples_per_worker},
            {"trials", options_.trials},
            {"examples", options_.examples},
            {"least_steps", options_.least_steps},
            {"stop_at_target", options_.stop_at_target},
            {"evaluate_growth", options_.evaluate_growth},
            {"edge", options_.edge},
            {"widenings", options_.widenings},
            {"seed", options_.seed},
            {"search", searches[static_cast<std::size_t>(options_.search)]},
            {"threads", options_.threads},
            {"cells", cells}};
  }

  BatchSizeScalingOptions options_;
  std::vector<Cell> cells_;
  std::map<std::size_t, Known> results_;  // by number
};

}  // namespace algoperf
