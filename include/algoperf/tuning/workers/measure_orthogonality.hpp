// measure_orthogonality: how orthogonal the workers' gradients or updates are that Adasum combines, during training.
// Source: Maleki et al. 2020 (arXiv:2006.02924), the figure of the orthogonality over time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../../backend/host.hpp"
#include "../../combine/group/in_process.hpp"
#include "../../data/selectors/shuffled_epochs.hpp"
#include "../../loop/observers/until.hpp"
#include "../../loop/training_loop.hpp"
#include "../trial.hpp"
#include "with_combiner.hpp"

namespace algoperf {

struct OrthogonalityOptions {
  std::size_t examples_per_worker = 32, workers = 16;
  std::uint64_t steps = 0;  // required, at least `samples`
  std::size_t samples = 20;
  std::uint64_t seed = 1;
};

// |adasum(v_1, ..., v_W)|^2 / (|v_1|^2 + ... + |v_W|^2) of the trained tensors at one step: 1 if the vectors are
// orthogonal, 1 / W if they are equal.
struct OrthogonalitySample {
  std::uint64_t step = 0;
  std::vector<double> of_tensors = {};
};

struct Orthogonality {
  std::size_t workers = 1;
  std::vector<std::string> tensors = {};  // names
  std::vector<OrthogonalitySample> samples = {};
};

// Trains with Adasum<of> and measures at `samples` steps at equal distances, the last of which is the last. A
// submission's selector, batch size and observer are not used. Throws Error if an option is out of range, and Diverged
// if a loss is not finite.
template <Of of, class W, class S>
Orthogonality measure_orthogonality(const W& workload, const S& submission, const HyperPoint& point,
                                    const OrthogonalityOptions& options) {
  require(options.workers >= 2, "measure_orthogonality: workers is ", options.workers, ", expected at least 2");
  require(options.samples >= 1 && options.steps >= options.samples, "measure_orthogonality: there are ", options.steps,
          " steps for ", options.samples, " samples, expected at least one sample and a step for each");
  WorkloadFacts facts = facts_of(workload);
  facts.batch_size = options.workers * options.examples_per_worker;
  facts.workers = options.workers;
  facts.step_hint = options.steps;
  TrainingLoop loop(workload.model(), workload.loss(), submission.rule(point, facts), submission.schedule(point, facts),
                    ShuffledEpochs{.batch = facts.batch_size, .seed = options.seed}, Seed{options.seed}, Adasum<of>{},
                    InProcess{.workers = options.workers}, Host<>{});
  Orthogonality found{options.workers};
  for (const TensorHandle handle : loop.layout().tensors())
    if (loop.layout().spec(handle).trained()) found.tensors.push_back(loop.layout().spec(handle).name);
  const auto train = workload.train();
  for (std::size_t i = 1; i <= options.samples; ++i) {
    const std::uint64_t step = options.steps * i / options.samples;
    loop.measure_orthogonality(step);  // no earlier step since the last sample is a multiple of it
    loop.run(train, UntilStep{step});
    OrthogonalitySample sample{step};
    std::size_t t = 0;
    for (const TensorHandle handle : loop.layout().tensors()) {
      if (loop.layout().spec(handle).trained()) sample.of_tensors.push_back(loop.orthogonality()[t]);
      ++t;
    }
    found.samples.push_back(std::move(sample));
  }
  return found;
}

}  // namespace algoperf
