#pragma once

#include <string>

#include "../data/readers/cifar10.hpp"
#include "../data/transformed.hpp"
#include "../data/transforms/random_crop.hpp"
#include "../data/transforms/random_flip.hpp"
#include "../nn/losses/softmax_cross_entropy.hpp"
#include "../nn/metrics/error_rate.hpp"
#include "cifar10_networks.hpp"
#include "concept.hpp"
#include "data_root.hpp"
#include "shared_data.hpp"
#include "variants.hpp"

namespace algoperf {

// CIFAR-10 (Krizhevsky 2009) from files of its binary format, plain or gzipped, in `data`/cifar10: data_batch_1.bin and
// data_batch_2.bin, whose last tenth is for validation, and test_batch.bin. Training images are moved by up to 4 pixels
// and flipped at random; prefetched(task.train()) does that on a thread. The labels are smoothed. The target is a
// validation error.
// Departs from AlgoPerf, which trains on five files, and which crops before it normalises, so that its padding is
// black; here the padding has the mean colour.
template <class Network>
struct Cifar10Workload {
  std::string name = "cifar10_" + detail::network_name<Network>();
  std::string base = "cifar10_" + detail::base_network_name<Network>();
  std::string data = data_root();
  double target_error = Network::target_error;
  detail::SharedData<ByteImages> training_images = {}, test_images = {};

  auto model() const { return Network::model(); }
  SoftmaxCrossEntropy loss() const { return {.label_smoothing = 0.1}; }
  ErrorRate metric() const { return {}; }
  Target target() const { return {target_error, true}; }
  std::uint64_t step_hint() const { return Network::step_hint; }
  auto train() const {
    const ByteImages& images = load();
    return transformed(images.subset(0, images.size() / 10 * 9), RandomCrop{.padding = 4}, RandomFlip{});
  }
  Slice<ByteImages> validation() const {
    const ByteImages& images = load();
    return images.subset(images.size() / 10 * 9, images.size());
  }
  Slice<ByteImages> test() const {
    const std::string path = data + "/cifar10/test_batch.bin";
    const ByteImages& images = test_images("cifar10, " + path, [&] { return load_cifar10({path}); });
    return images.subset(0, images.size());
  }
  template <class Visit>
  void each_variant(const Visit& visit) const {
    detail::each_variant<Network>([&]<class V>() { visit(Cifar10Workload<V>{.data = data}); });
  }

 private:
  const ByteImages& load() const {
    const std::string folder = data + "/cifar10/";
    return training_images("cifar10, " + folder, [&] {
      return load_cifar10({folder + "data_batch_1.bin", folder + "data_batch_2.bin"});
    });
  }
};

using Cifar10 = Cifar10Workload<ResNet8>;
using Cifar10ResNet20 = Cifar10Workload<ResNet20>;
using Cifar10Vgg = Cifar10Workload<TinyVgg>;
using Cifar10Vit = Cifar10Workload<TinyVit>;

}  // namespace algoperf
