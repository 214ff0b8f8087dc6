// Networks for CIFAR-10, and their variants for held-out workloads, with AlgoPerf's names.
//
//   name, or Base and variant    for the names of workloads: "resnet8", "resnet8_silu"
//   model()
//   Variants                     of a base network: a Tuple of network types
//   target_error                 reached by AdamW within step_hint steps (benchmarks/workloads_to_target.cpp)
//   step_hint
#pragma once

#include <cstdint>

#include "../core/tuple.hpp"
#include "../nn/layers/gelu.hpp"
#include "../nn/layers/silu.hpp"
#include "../nn/models/small_res_net.hpp"
#include "../nn/models/vgg.hpp"
#include "../nn/models/vision_transformer.hpp"

namespace algoperf {

struct ResNet8Silu;
struct ResNet8Gelu;
struct ResNet8LargeBnInit;

// ResNet-8 with batch norms over 64 examples at a time.
struct ResNet8 {
  static constexpr const char* name = "resnet8";
  using Variants = Tuple<ResNet8Silu, ResNet8Gelu, ResNet8LargeBnInit>;
  static constexpr double target_error = 0.36;
  static constexpr std::uint64_t step_hint = 1200;
  static constexpr SmallResNet<> model() { return {.ghost = 64}; }
};
// SiLUs instead of ReLUs.
struct ResNet8Silu : ResNet8 {
  using Base = ResNet8;
  static constexpr const char* variant = "silu";
  static constexpr SmallResNet<Silu> model() { return {.ghost = 64}; }
};
// GELUs, by tanh, instead of ReLUs.
struct ResNet8Gelu : ResNet8 {
  using Base = ResNet8;
  static constexpr const char* variant = "gelu";
  static constexpr SmallResNet<GeluTanh> model() { return {.ghost = 64}; }
};
// The scale of the last batch norm of each block starts as 8 instead of 0.
struct ResNet8LargeBnInit : ResNet8 {
  using Base = ResNet8;
  static constexpr const char* variant = "large_bn_init";
  static constexpr SmallResNet<> model() { return {.ghost = 64, .last_scale = Init::constant(8)}; }
};
// ResNet-20, without variants.
struct ResNet20 {
  static constexpr const char* name = "resnet20";
  static constexpr double target_error = 0.25;
  static constexpr std::uint64_t step_hint = 2800;
  static constexpr SmallResNet<> model() { return {.blocks = 3, .ghost = 64}; }
};

struct TinyVggBatchNorm;

// VGG-11 with an eighth of the filters, with 153,530 parameters, without batch norms.
struct TinyVgg {
  static constexpr const char* name = "vgg11";
  using Variants = Tuple<TinyVggBatchNorm>;
  static constexpr double target_error = 0.42;
  static constexpr std::uint64_t step_hint = 1500;
  static constexpr Vgg<> model() { return {}; }
};
// Batch norms after the convolutions.
struct TinyVggBatchNorm : TinyVgg {
  using Base = TinyVgg;
  static constexpr const char* variant = "batch_norm";
  static constexpr double target_error = 0.33;
  static constexpr Vgg<> model() { return {.batch_norm = true}; }
};

struct TinyVitGlu;
struct TinyVitPostLn;
struct TinyVitMap;

// A Vision Transformer of 4 blocks on 64 patches of 4 x 4 pixels, with 208,010 parameters.
struct TinyVit {
  static constexpr const char* name = "vit";
  using Variants = Tuple<TinyVitGlu, TinyVitPostLn, TinyVitMap>;
  static constexpr double target_error = 0.5;
  static constexpr std::uint64_t step_hint = 1500;
  static constexpr VisionTransformer model() { return {}; }
};
// Gated MLPs.
struct TinyVitGlu : TinyVit {
  using Base = TinyVit;
  static constexpr const char* variant = "glu";
  static constexpr VisionTransformer model() { return {.glu = true}; }
};
// Layer norms after the branches.
struct TinyVitPostLn : TinyVit {
  using Base = TinyVit;
  static constexpr const char* variant = "post_ln";
  static constexpr VisionTransformer model() { return {.post_norm = true}; }
};
// A learned query instead of the mean over the patches.
struct TinyVitMap : TinyVit {
  using Base = TinyVit;
  static constexpr const char* variant = "map";
  static constexpr VisionTransformer model() { return {.attention_pooling = true}; }
};

}  // namespace algoperf
