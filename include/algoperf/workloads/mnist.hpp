#pragma once

#include <string>

#include "../data/readers/idx.hpp"
#include "../nn/losses/softmax_cross_entropy.hpp"
#include "../nn/metrics/error_rate.hpp"
#include "concept.hpp"
#include "data_root.hpp"
#include "digit_networks.hpp"
#include "digits.hpp"
#include "shared_data.hpp"
#include "variants.hpp"

namespace algoperf {

// MNIST (LeCun et al. 1998) from its four IDX files, plain or gzipped, in `data`/mnist: 50,000 examples for training,
// the last 10,000 of the training file for validation, 10,000 for testing. The target is a validation error.
template <class Network>
struct MnistWorkload {
  std::string name = "mnist_" + detail::network_name<Network>();
  std::string base = "mnist_" + detail::base_network_name<Network>();
  std::string data = data_root();
  double target_error = Network::mnist_error;
  detail::SharedData<detail::DigitSplits> splits = {};

  auto model() const { return Network::model(); }
  SoftmaxCrossEntropy loss() const { return detail::digit_loss<Network>(); }
  ErrorRate metric() const { return {}; }
  Target target() const { return {target_error, true}; }
  std::uint64_t step_hint() const { return Network::step_hint; }
  detail::Digits train() const { return load().train; }
  detail::Digits validation() const { return load().validation; }
  detail::Digits test() const { return load().test; }
  template <class Visit>
  void each_variant(const Visit& visit) const {
    detail::each_variant<Network>([&]<class V>() { visit(MnistWorkload<V>{.data = data}); });
  }

 private:
  const detail::DigitSplits& load() const {
    const std::string folder = data + "/mnist/";
    return splits("mnist, " + folder, [&] {
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
using MnistLinear = MnistWorkload<DigitLinear>;
using MnistResNet = MnistWorkload<DigitResNet8>;
using MnistVit = MnistWorkload<DigitVit>;

}  // namespace algoperf
