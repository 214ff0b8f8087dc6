#pragma once

#include "../data/readers/idx.hpp"
#include "../nn/losses/softmax_cross_entropy.hpp"
#include "../nn/metrics/error_rate.hpp"
#include "concept.hpp"
#include "data_root.hpp"
#include "digits.hpp"
#include "once.hpp"

namespace algoperf {

// MNIST (LeCun et al. 1998) from its four IDX files, plain or gzipped, in `data`/mnist: 50,000 examples for training,
// the last 10,000 of the training file for validation, 10,000 for testing. The target is a validation error.
template <class Network>
struct MnistWorkload {
  static constexpr const char* name = "mnist";

  std::string data = data_root();
  double target_error = 0.025;
  detail::Once<detail::DigitSplits> splits = {};

  auto model() const { return Network::model(); }
  SoftmaxCrossEntropy loss() const { return {}; }
  ErrorRate metric() const { return {}; }
  Target target() const { return {target_error, true}; }
  std::uint64_t step_hint() const { return 2000; }
  detail::Digits train() const { return load().train; }
  detail::Digits validation() const { return load().validation; }
  detail::Digits test() const { return load().test; }

 private:
  const detail::DigitSplits& load() const {
    return splits([this] {
      const std::string folder = data + "/mnist/";
      const InMemory<float> train = load_idx(folder + "train-images-idx3-ubyte", folder + "train-labels-idx1-ubyte");
      const InMemory<float> test = load_idx(folder + "t10k-images-idx3-ubyte", folder + "t10k-labels-idx1-ubyte");
      require(train.size() == 60000 && test.size() == 10000, folder, ": there are ", train.size(), " and ", test.size(),
              " examples, expected MNIST's 60000 and 10000");
      return detail::DigitSplits{train.subset(0, 50000), train.subset(50000, 60000), test.subset(0, 10000)};
    });
  }
};

using Mnist = MnistWorkload<DigitMlp>;
using MnistCnn = MnistWorkload<DigitCnn>;

}  // namespace algoperf
