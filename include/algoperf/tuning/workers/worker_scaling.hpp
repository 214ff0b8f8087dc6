// WorkerScaling: measures how training depends on the number of workers and on the combiner of their gradients or
// updates, with hyperparameters tuned for each number of workers, and with those that are best for the fewest workers.
// Source: Maleki et al. 2020 (arXiv:2006.02924), section 5. Requires nlohmann-json; POSIX only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../batch_size/batch_size_scaling.hpp"
#include "with_combiner.hpp"
#include "worker_measurement.hpp"
#include "worker_scaling_options.hpp"

namespace algoperf {

// Adds submissions on workloads with combiners, then searches hyperparameters for each number of workers, and runs what
// the search found with several seeds:
//   WorkerScaling study({.folder = "out", .workers = powers_of_two(1, 64), .jobs = 2});
//   study.add<Of::gradients>(GlyphDigits{}, ConstantMomentum{});
//   study.add<Of::updates>(GlyphDigits{}, ConstantAdamW{});
//   for (const WorkerCurve& curve : study.run()) ...
// W workers train on batches of W `examples_per_worker` examples, within the same budget of examples for all W. The
// searches are those of BatchSizeScaling and end at the target. The runs use the whole budget. Their seeds are the same
// for all combiners and numbers of workers, and differ from those of the searches. Results do not depend on `jobs`.
// FOLDER/search/journal.jsonl and FOLDER/runs.jsonl have a line for each; run the program again to continue.
class WorkerScaling {
 public:
  using Json = nlohmann::ordered_json;

  // Throws Error if an option is out of range.
  explicit WorkerScaling(WorkerScalingOptions options)
      : options_((options.check(), std::move(options))), search_(options_.search()) {}

  // Adds a submission with Mean, WorkerSum<of> and Adasum<of>. Throws Error if it was added to this workload before.
  template <Of of, class W, class S>
  void add(const W& workload, const S& submission) {
    const auto entry = detail::workload_entry(workload);
    const auto with = [&](const char* combiner, const auto& combined) {
      add(S::name, combiner, detail::with_submission(entry, combined), detail::widest_space_of(submission));
    };
    with("mean", WithCombiner<S, Mean>{submission});
    with("sum", WithCombiner<S, WorkerSum<of>>{submission});
    with("adasum", WithCombiner<S, Adasum<of>>{submission});
  }
  // Adds one combiner of a submission. `widest`: as in BatchSizeScaling::add.
  void add(const std::string& submission, const std::string& combiner, const StudyEntry& entry,
           const std::vector<Hyperparameter>& widest = {}) {
    search_.add(entry, widest);
    cells_.push_back({submission, combiner, entry});
  }

  // Runs what is missing, calls progress(phase, finished, known) after each run, where phase is "search" or "runs", and
  // returns a curve for each submission and combiner. Throws Error if a journal belongs to another study.
  template <class Progress>
  std::vector<WorkerCurve> run(const Progress& progress) {
    const std::vector<BatchScaling> found =
        search_.run([&](std::size_t finished, std::size_t known) { progress("search", finished, known); });
    std::vector<WorkerCurve> curves;
    for (std::size_t c = 0; c < cells_.size(); ++c)
      curves.push_back({cells_[c].submission, cells_[c].combiner, cells_[c].entry.workload, {}, {}, found[c].failures});
    for (std::size_t c = 0; c < cells_.size(); ++c)
      for (std::size_t w = 0; w < options_.workers.size(); ++w) {
        const std::optional<BatchResult> tuned = reached_or_best(found[c].studies[w], found[c].goal());
        const std::optional<BatchResult> untuned = best_with_fewest(found, c);
        if (tuned) curves[c].tuned.push_back({options_.workers[w], tuned->point});
        if (untuned) curves[c].untuned.push_back({options_.workers[w], untuned->point});
      }
    measure(curves, progress);
    return curves;
  }
  std::vector<WorkerCurve> run() {
    return run([](const char*, std::size_t, std::size_t) {});
  }

  const WorkerScalingOptions& options() const { return options_; }

 private:
  struct Cell {
    std::string submission, combiner;
    StudyEntry entry;
  };
  // A measurement that gets a run, and its cell and batch size.
  struct Slot {
    std::size_t cell;
    WorkerMeasurement* measurement;
  };

  // Returns the best point with the fewest workers: with one worker, over all combiners of the cell's submission and
  // workload with the same search space, because they are then the same algorithm; with more, of the cell alone.
  std::optional<BatchResult> best_with_fewest(const std::vector<BatchScaling>& found, std::size_t cell) const {
    std::optional<BatchResult> best;
    const auto better = [&](const BatchResult& a, const BatchResult& b) {
      const Goal goal = found[cell].goal();
      const bool a_reached = goal.reached_by(a.metric), b_reached = goal.reached_by(b.metric);
      if (a_reached != b_reached) return a_reached;
      if (a_reached) return a.step < b.step;
      return goal.lower_is_better ? a.metric < b.metric : a.metric > b.metric;
    };
    for (std::size_t c = 0; c < cells_.size(); ++c) {
      const bool same = cells_[c].submission == cells_[cell].submission &&
                        cells_[c].entry.workload.name == cells_[cell].entry.workload.name &&
                        to_json(cells_[c].entry.space) == to_json(cells_[cell].entry.space);
      if (c != cell && !(same && options_.workers.front() == 1)) continue;
      const std::optional<BatchResult> one = reached_or_best(found[c].studies.front(), found[c].goal());
      if (one && (!best || better(*one, *best))) best = one;
    }
    return best;
  }

  template <class Progress>
  void measure(std::vector<WorkerCurve>& curves, const Progress& progress) {
    std::vector<Slot> slots;
    for (std::size_t c = 0; c < curves.size(); ++c)
      for (auto* const measurements : {&curves[c].tuned, &curves[c].untuned})
        for (WorkerMeasurement& measurement : *measurements) {
          measurement.runs.resize(options_.seeds);
          slots.push_back({c, &measurement});
        }
    const auto opened =
        detail::open_journal(options_.runner, options_.folder + "/runs.jsonl", settings(slots), options_.sync);
    Journal& journal = *opened;
    const auto keep = [&](std::size_t run, const Json& json) {
      slots.at(run / options_.seeds).measurement->runs[run % options_.seeds] = detail::trial_result(json);
    };
    for (const auto& [run, json] : journal.records()) keep(run, json);
    std::vector<std::size_t> missing;
    for (std::size_t run = 0; run < slots.size() * options_.seeds; ++run)
      if (!journal.records().contains(run)) missing.push_back(run);
    if (missing.empty()) return;
    for (const Cell& cell : cells_) cell.entry.load();
    std::size_t finished = 0;
    const auto work = [&](std::size_t run) { return detail::to_json(train(slots[run / options_.seeds], run)).dump(); };
    detail::run_tasks(options_.runner, options_.jobs, missing, work, [&](const TaskResult& task) {
      if (task.failure.empty()) {
        const Json json = Json::parse(task.value);
        journal.append(task.task, json);
        keep(task.task, json);
      } else {
        fail_run(curves, slots[task.task / options_.seeds], task);
      }
      ++finished;
      if (is_root(options_.runner)) progress("runs", finished, missing.size());
    });
  }
  // A run that failed, without diverging, has no record, so it is run again if the study continues.
  void fail_run(std::vector<WorkerCurve>& curves, const Slot& slot, const TaskResult& task) const {
    curves[slot.cell].failures.push_back(std::to_string(slot.measurement->workers) + " workers: " + task.failure);
    slot.measurement->runs[task.task % options_.seeds].failure = task.failure;
  }
  TrialResult train(const Slot& slot, std::size_t run) const {
    const StudyEntry& entry = cells_[slot.cell].entry;
    const std::size_t batch = slot.measurement->workers * options_.examples_per_worker;
    const std::uint64_t steps = search_.budget(entry, batch);
    const RandomKey key = RandomKey{options_.seed}.fold(detail::hash_text("runs")).fold(run % options_.seeds);
    return entry.run(slot.measurement->point, {.seed = key.value,
                                               .steps = steps,
                                               .evaluate_every = steps / 512 + 1,
                                               .evaluate_growth = options_.evaluate_growth,
                                               .batch_size = batch,
                                               .workers = slot.measurement->workers,
                                               .stop_at_target = false,
                                               .threads = options_.threads});
  }
  // What must not change when the runs continue.
  Json settings(const std::vector<Slot>& slots) const {
    Json measurements = Json::array();
    for (const Slot& slot : slots)
      measurements.push_back({{"entry", cells_[slot.cell].entry.submission},
                              {"workload", cells_[slot.cell].entry.workload.name},
                              {"workers", slot.measurement->workers},
                              {"point", to_json(slot.measurement->point)}});
    return {{"examples_per_worker", options_.examples_per_worker},
            {"examples", options_.examples},
            {"evaluate_growth", options_.evaluate_growth},
            {"seeds", options_.seeds},
            {"seed", options_.seed},
            {"threads", options_.threads},
            {"measurements", measurements}};
  }

  WorkerScalingOptions options_;
  BatchSizeScaling search_;
  std::vector<Cell> cells_;
};

}  // namespace algoperf
