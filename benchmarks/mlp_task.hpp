// The task of the training step benchmarks: an MLP 784-256-256-10 with AdamW on random examples.
#pragma once

#include <algoperf/algoperf.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace bench {

constexpr std::size_t inputs = 784, hidden = 256, classes = 10;

inline algoperf::InMemory<float> random_examples(std::size_t n) {
  algoperf::RandomStream random(algoperf::RandomKey{7});
  std::vector<float> x(n * inputs);
  std::vector<std::int32_t> labels(n);
  for (float& each : x) each = static_cast<float>(random.uniform_double());
  for (std::int32_t& each : labels) each = static_cast<std::int32_t>(random.below(classes));
  return {std::move(x), std::move(labels), algoperf::Shape{28, 28, 1}, classes};
}

inline auto training_loop(std::size_t batch, unsigned threads = 1) {
  using namespace algoperf;
  return TrainingLoop(mlp(Shape{28, 28, 1}, {hidden, hidden}, classes), SoftmaxCrossEntropy{}, adamw(), Constant{1e-3},
                      ShuffledEpochs{.batch = batch}, Host<float>{.threads = threads});
}

}  // namespace bench
