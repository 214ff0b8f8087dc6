#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../../core/require.hpp"
#include "../search_space.hpp"

namespace algoperf {

class TaskRunner;  // task_runner.hpp

// Returns the powers of two from `least`, which must be one, up to `most`.
inline std::vector<std::size_t> powers_of_two(std::size_t least, std::size_t most) {
  require(least > 0 && (least & (least - 1)) == 0, "powers_of_two: ", least, " is not a power of two");
  std::vector<std::size_t> powers;
  for (std::size_t power = least; power <= most && power >= least; power *= 2) powers.push_back(power);
  return powers;
}

struct BatchSizeScalingOptions {
  std::string folder = "out";  // for journal.jsonl; made if it does not exist
  std::vector<std::size_t> batch_sizes = powers_of_two(1, 1024);
  // If it is not 0, a trial has as many workers as its batch size has examples_per_worker examples, and all submissions
  // need a combiner.
  std::size_t examples_per_worker = 0;
  std::size_t trials = 25;  // per batch size, not counting those that diverge: another trial replaces each
  // The budget of a trial is the larger of `examples` / batch size and `least_steps`. 0: twice the examples, and
  // once the steps, of the workload's step hint.
  std::uint64_t examples = 0, least_steps = 0;
  bool stop_at_target = true;  // false: for the best metrics within budgets; takes longer
  double evaluate_growth =
      1.05;  // trials evaluate at steps that grow by this factor: the resolution of steps to a goal
  // If the best point is within `edge` of an end of a range (a share of the range), a round of half as many trials
  // searches a strip beyond it, half as wide as the range; at most `widenings` times per batch size.
  double edge = 0.05;
  std::size_t widenings = 2;
  std::uint64_t seed = 1;
  Search search = Search::halton;  // not official: each batch size has its own points
  unsigned threads = 1;            // of a trial
  std::size_t jobs = 1;            // trials at a time, each in a process forked from this one; 0: in this process
  // The pairs of a submission and a batch size are numbered in order. This run takes those whose number modulo `shards`
  // is `shard`.
  std::size_t shard = 0, shards = 1;
  std::shared_ptr<TaskRunner> runner = {};  // runs trials instead of `jobs` processes, e.g. RankRunner
  bool sync = false;                        // fsync the journal after each trial

  // Returns the workers of a trial.
  std::size_t workers(std::size_t batch) const { return examples_per_worker == 0 ? 1 : batch / examples_per_worker; }

  void check() const {
    require(!batch_sizes.empty(), "BatchSizeScalingOptions: there is no batch size");
    for (std::size_t i = 0; i < batch_sizes.size(); ++i)
      require(batch_sizes[i] > (i == 0 ? 0 : batch_sizes[i - 1]), "BatchSizeScalingOptions: batch size ",
              batch_sizes[i], " is number ", i, ", expected ascending sizes above 0");
    for (const std::size_t batch : batch_sizes)
      require(examples_per_worker == 0 || batch % examples_per_worker == 0, "BatchSizeScalingOptions: batch size ",
              batch, " is no multiple of examples_per_worker, which is ", examples_per_worker);
    require(trials >= 1 && trials <= 10000, "BatchSizeScalingOptions: trials is ", trials, ", expected 1 to 10000");
    require(evaluate_growth >= 1 && std::isfinite(evaluate_growth), "BatchSizeScalingOptions: evaluate_growth is ",
            evaluate_growth, ", expected a finite number of at least 1");
    require(edge >= 0 && edge < 0.5, "BatchSizeScalingOptions: edge is ", edge, ", expected [0, 0.5)");
    require(widenings <= 9, "BatchSizeScalingOptions: widenings is ", widenings, ", expected at most 9");
    require(search != Search::official, "BatchSizeScalingOptions: search is official, which has one set of points");
    require(threads >= 1, "BatchSizeScalingOptions: threads is 0, expected at least 1");
    require(shard < shards, "BatchSizeScalingOptions: shard is ", shard, ", expected less than shards, which is ",
            shards);
  }
};

}  // namespace algoperf
