// The tasks of the convolutional benchmarks, on random images: the simple CNN of Shallue et al. 2018 (arXiv:1811.03600)
// for 28 x 28 x 1, and residual networks with batch norm for 32 x 32 x 3: one with 465,000 parameters, and ResNet-8.
#pragma once

#include <algoperf/algoperf.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace bench {

inline algoperf::InMemory<float> random_images(std::size_t n, algoperf::Shape shape) {
  algoperf::RandomStream random(algoperf::RandomKey{7});
  std::vector<float> x(n * shape.size());
  std::vector<std::int32_t> labels(n);
  for (float& each : x) each = static_cast<float>(random.uniform_double());
  for (std::int32_t& each : labels) each = static_cast<std::int32_t>(random.below(10));
  return {std::move(x), std::move(labels), shape, 10};
}

constexpr algoperf::Shape simple_shape{28, 28, 1}, residual_shape{32, 32, 3};

inline auto simple_cnn_model() { return algoperf::simple_cnn(simple_shape, 10); }

inline auto residual_cnn_model() {
  using namespace algoperf;
  const auto three = [](std::size_t filters) { return Conv2d{.filters = filters, .padding = 1, .bias = false}; };
  return Model(residual_shape, Conv2d{.filters = 32, .size = 4, .stride = 2, .padding = 1, .bias = false}, BatchNorm{},
               Relu{}, three(64), BatchNorm{}, Relu{}, MaxPool{}, Residual(three(64), BatchNorm{}, Relu{}),
               Residual(three(64), BatchNorm{}, Relu{}), three(128), BatchNorm{}, Relu{}, MaxPool{},
               Residual(three(128), BatchNorm{}, Relu{}), Residual(three(128), BatchNorm{}, Relu{}),
               MaxPool{.size = 4, .stride = 4}, Flatten{}, Dense{.units = 10});
}

template <class ModelType>
algoperf::Shape image_shape(const ModelType& model) {
  if constexpr (requires { model.in; })
    return model.in;
  else
    return model.input();
}

template <class ModelType>
auto cnn_loop(const ModelType& model, std::size_t batch, unsigned threads = 1) {
  using namespace algoperf;
  return TrainingLoop(model, SoftmaxCrossEntropy{}, adamw(), Constant{1e-3}, ShuffledEpochs{.batch = batch},
                      Host<float>{.threads = threads});
}

}  // namespace bench
