// Shared parts of the digit workloads: networks for 28x28 images of ten classes, and the data splits.
#pragma once

#include "../data/in_memory.hpp"
#include "../data/slice.hpp"
#include "../nn/models/mlp.hpp"
#include "../nn/models/simple_cnn.hpp"

namespace algoperf {

// An MLP with layers 784-256-256-10.
struct DigitMlp {
  static constexpr const char* name = "mlp";
  static constexpr auto model() { return mlp(Shape{28, 28, 1}, {256, 256}, 10); }
};

// The Simple CNN of Shallue et al. 2018.
struct DigitCnn {
  static constexpr const char* name = "cnn";
  static constexpr auto model() { return simple_cnn(Shape{28, 28, 1}, 10); }
};

namespace detail {

using Digits = Slice<InMemory<float>>;
struct DigitSplits {
  Digits train, validation, test;
};

}  // namespace detail
}  // namespace algoperf
