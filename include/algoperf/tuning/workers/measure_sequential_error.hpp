// measure_sequential_error: how close a step with the workers' combined gradients comes to the workers' steps one after
// the other, during training by SGD. Source: Maleki et al. 2020 (arXiv:2006.02924), section 3 and the figure that
// compares synchronous SGD and Adasum with a sequential emulation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../backend/host.hpp"
#include "../../combine/group/in_process.hpp"
#include "../../combine/sequential_workers.hpp"
#include "../../data/selectors/shuffled_epochs.hpp"
#include "../../loop/observers/until.hpp"
#include "../../loop/training_loop.hpp"
#include "../../rules/recipes/sgd.hpp"
#include "../../schedules/constant.hpp"

namespace algoperf {

struct SequentialErrorOptions {
  double learning_rate = 0.1;
  std::size_t examples_per_worker = 32, workers = 16;
  std::uint64_t steps = 100;  // of all workers: each makes as many
  std::uint64_t every = 5;
  std::uint64_t seed = 1;
};

// Trains a workload by SGD, one worker after the other, in double precision, and returns the errors of the mean, the
// sum and Adasum of the gradients at every `every`-th step. Throws Error if an option is out of range, and Diverged if
// a loss is not finite.
template <class W>
std::vector<SequentialErrors> measure_sequential_error(const W& workload, const SequentialErrorOptions& options) {
  require(options.workers >= 2, "measure_sequential_error: workers is ", options.workers, ", expected at least 2");
  require(options.every >= 1, "measure_sequential_error: every is 0, expected at least 1");
  std::vector<SequentialErrors> errors;
  TrainingLoop loop(workload.model(), workload.loss(), sgd(), Constant{options.learning_rate},
                    ShuffledEpochs{.batch = options.workers * options.examples_per_worker, .seed = options.seed},
                    Seed{options.seed}, SequentialWorkers{&errors, options.every},
                    InProcess{.workers = options.workers}, Host<double>{});
  loop.run(workload.train(), UntilStep{options.steps});
  return errors;
}

}  // namespace algoperf
