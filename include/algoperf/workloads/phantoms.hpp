#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "../core/tuple.hpp"
#include "../data/k_space.hpp"
#include "../data/synthetic/phantoms.hpp"
#include "../nn/layers/tanh.hpp"
#include "../nn/losses/mean_absolute_error.hpp"
#include "../nn/losses/with_field.hpp"
#include "../nn/metrics/structural_similarity.hpp"
#include "../nn/models/u_net.hpp"
#include "concept.hpp"
#include "shared_data.hpp"
#include "variants.hpp"

namespace algoperf {

struct PhantomUNetModelSize;
struct PhantomUNetTanh;
struct PhantomUNetLayerNorm;

// A U-Net of 29,137 parameters, and its variants, with AlgoPerf's names. AdamW reaches the target_similarity of each
// within step_hint() steps (benchmarks/workloads_to_target.cpp).
struct PhantomUNet {
  static constexpr const char* name = "unet";
  using Variants = Tuple<PhantomUNetModelSize, PhantomUNetTanh, PhantomUNetLayerNorm>;
  static constexpr double target_similarity = 0.9;
  static constexpr UNet<> model() { return {}; }
};
// Twice the channels and one pool instead of two.
struct PhantomUNetModelSize : PhantomUNet {
  using Base = PhantomUNet;
  static constexpr const char* variant = "model_size";
  static constexpr double target_similarity = 0.89;
  static constexpr UNet<> model() { return {.channels = 16, .pools = 1}; }
};
// Hyperbolic tangents instead of leaky ReLUs.
struct PhantomUNetTanh : PhantomUNet {
  using Base = PhantomUNet;
  static constexpr const char* variant = "tanh";
  static constexpr double target_similarity = 0.87;
  static constexpr UNet<Tanh> model() { return {}; }
};
// Layer norms in the blocks.
struct PhantomUNetLayerNorm : PhantomUNet {
  using Base = PhantomUNet;
  static constexpr const char* variant = "layernorm";
  static constexpr UNet<> model() { return {.layer_norm = true}; }
};

// AlgoPerf's fastmri in miniature: images of 32 x 32 pixels are restored from about a quarter of the columns of their
// k-space. 4,000 phantoms are for training, 500 for validation and 500 for testing. The target is a structural
// similarity on the validation data.
// Departures from AlgoPerf: phantoms instead of knees; each image of an evaluation has a mask of columns of its own,
// where AlgoPerf uses one for all; and the range of the metric is that of the image, not of a volume of images.
template <class Network>
struct PhantomWorkload {
  std::string name = "phantoms_" + detail::network_name<Network>();
  std::string base = "phantoms_" + detail::base_network_name<Network>();
  std::uint64_t seed = 1;
  double target_similarity = Network::target_similarity;
  detail::SharedData<ReconstructionFields> images = {};

  auto model() const { return Network::model(); }
  WithField<MeanAbsoluteError> loss() const { return {{}, "intensity", {3}}; }
  StructuralSimilarity metric() const { return {.rows = 32, .columns = 32, .intensity_field = "intensity"}; }
  Target target() const { return {target_similarity, false}; }
  std::uint64_t step_hint() const { return 2000; }
  std::size_t batch_size() const { return 32; }
  Slice<ReconstructionFields> train() const { return load().subset(0, 4000); }
  Slice<ReconstructionFields> validation() const { return load().subset(4000, 4500); }
  Slice<ReconstructionFields> test() const { return load().subset(4500, 5000); }
  template <class Visit>
  void each_variant(const Visit& visit) const {
    detail::each_variant<Network>([&]<class V>() { visit(PhantomWorkload<V>{.seed = seed}); });
  }

 private:
  const ReconstructionFields& load() const {
    return images("phantoms, seed " + std::to_string(seed), [this] {
      const Phantoms phantoms{.seed = seed, .count = 5000};
      return undersample(phantoms.render(), phantoms.shape(), RandomKey{seed}.fold(0x6B2D7370616365));  // "k-space"
    });
  }
};

using PhantomReconstruction = PhantomWorkload<PhantomUNet>;

}  // namespace algoperf
