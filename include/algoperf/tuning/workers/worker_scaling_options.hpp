#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../../core/require.hpp"
#include "../batch_size/batch_size_scaling_options.hpp"

namespace algoperf {

struct WorkerScalingOptions {
  std::string folder = "out";  // for the journals; made if it does not exist
  std::vector<std::size_t> workers = powers_of_two(1, 64);
  std::size_t examples_per_worker = 32;  // per step
  std::uint64_t examples = 0;            // the budget of a run; 0: twice that of the workload's step hint
  std::size_t trials = 25;               // of the search at each number of workers
  std::size_t widenings = 2;             // BatchSizeScalingOptions::widenings
  std::size_t seeds = 5;                 // of the runs at each point that was found
  double evaluate_growth = 1.05;         // as in BatchSizeScalingOptions
  std::uint64_t seed = 1;
  unsigned threads = 1;  // of a run
  std::size_t jobs = 1;  // runs at a time, each in a process forked from this one; 0: in this process
  std::shared_ptr<TaskRunner> runner = {};  // as in BatchSizeScalingOptions
  bool sync = false;                        // fsync the journals after each run

  void check() const {
    require(!workers.empty(), "WorkerScalingOptions: there is no number of workers");
    require(examples_per_worker >= 1, "WorkerScalingOptions: examples_per_worker is 0, expected at least 1");
    require(seeds >= 1 && seeds <= 10000, "WorkerScalingOptions: seeds is ", seeds, ", expected 1 to 10000");
    search().check();
  }

  // Returns the options of the searches.
  BatchSizeScalingOptions search() const {
    BatchSizeScalingOptions options{.folder = folder + "/search"};
    options.batch_sizes.clear();
    for (const std::size_t count : workers) options.batch_sizes.push_back(count * examples_per_worker);
    options.examples_per_worker = examples_per_worker;
    options.examples = examples;
    options.least_steps = 1;
    options.trials = trials;
    options.widenings = widenings;
    options.evaluate_growth = evaluate_growth;
    options.seed = seed;
    options.threads = threads;
    options.jobs = jobs;
    options.runner = runner;
    options.sync = sync;
    return options;
  }
};

}  // namespace algoperf
