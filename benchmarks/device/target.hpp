// Measures the training seconds to 97.5 % validation accuracy on MNIST with the MLP, AdamW, batch size 128 and three
// seeds.
#pragma once

#include <algoperf/algoperf.hpp>
#include <algoperf/workloads/mnist.hpp>
#include <cstdlib>
#include <limits>
#include <string>

#include "lines.hpp"

namespace bench {

template <class Backend>
double seconds_to_target(const algoperf::Mnist& task, const Backend& backend, std::uint64_t seed) {
  namespace ap = algoperf;
  ap::TrainingLoop loop(task.model(), task.loss(), ap::adamw({.weight_decay = 0.1}),
                        ap::WarmupCosine{.peak = 4e-3, .warmup = 50, .total = 2000},
                        ap::ShuffledEpochs{.batch = 128, .seed = seed}, ap::Seed{seed}, backend);
  const auto end =
      loop.run(task.train(), ap::Evaluate(task, {.every = 50}), ap::UntilTarget{task.target()}, ap::UntilStep{2000});
  return end.target_reached() ? end.last.training_seconds : std::numeric_limits<double>::infinity();
}

template <class Backend>
void lines_of_targets(const std::string& column, bool can_run, const Backend& backend) {
  const algoperf::Mnist task{.target_error = 0.025};
  can_run = can_run && std::getenv("ALGOPERF_DATA") != nullptr;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const std::string row = "MNIST, MLP, AdamW to 97.5 %, seed " + std::to_string(seed);
    if (can_run)
      line("target", row, column, seconds_to_target(task, backend, seed));
    else
      not_measured("target", row, column);
  }
}

}  // namespace bench
