// Networks for 28 x 28 images of ten classes, and their variants for held-out workloads.
//
//   name, or Base and variant         for the names of workloads: "mlp", "mlp_tanh"
//   model()
//   Variants                          of a base network: a Tuple of network types
//   glyph_error, mnist_error          targets on Glyphs and on MNIST, found by find_target; those of DigitResNet8 and
//                                     DigitVit were set by hand, and AdamW reaches them with two seeds
//                                     (benchmarks/workloads_to_target.cpp)
//   step_hint
//   label_smoothing                   of the loss; optional, by default 0
//
// Variants have AlgoPerf's names where their changes are the same.
#pragma once

#include <cstdint>

#include "../core/tuple.hpp"
#include "../nn/layers/gelu.hpp"
#include "../nn/layers/group_norm.hpp"
#include "../nn/layers/layer_norm.hpp"
#include "../nn/layers/tanh.hpp"
#include "../nn/losses/softmax_cross_entropy.hpp"
#include "../nn/models/linear_model.hpp"
#include "../nn/models/mlp.hpp"
#include "../nn/models/simple_cnn.hpp"
#include "../nn/models/small_res_net.hpp"
#include "../nn/models/vision_transformer.hpp"
#include "../nn/residual.hpp"

namespace algoperf {

namespace detail {

inline constexpr Shape digit_shape{28, 28, 1};
inline constexpr SimpleCnn digit_cnn{.filters1 = 16, .filters2 = 32, .units = 128};
// The logits of ten classes.
inline constexpr Dense digit_logits{.units = 10, .init = Init::lecun_normal, .output_layer = true};
// The same with weights of variance 1 instead of 1 / fan in.
inline constexpr Dense large_digit_logits{.units = 10, .init = Init::unit_normal, .output_layer = true};

template <class Network>
constexpr SoftmaxCrossEntropy digit_loss() {
  if constexpr (requires { Network::label_smoothing; })
    return {.label_smoothing = Network::label_smoothing};
  else
    return {};
}

}  // namespace detail

struct DigitLinearLayerNorm;
struct DigitLinearLargeInit;
// Softmax regression.
struct DigitLinear {
  static constexpr const char* name = "linear";
  using Variants = Tuple<DigitLinearLayerNorm, DigitLinearLargeInit>;
  static constexpr double glyph_error = 0.3599, mnist_error = 0.0711;
  static constexpr std::uint64_t step_hint = 1333;
  static constexpr auto model() { return linear_model(detail::digit_shape, 10); }
};
// The image is normalised to mean 0 and variance 1, by a layer norm over all pixels.
struct DigitLinearLayerNorm : DigitLinear {
  using Base = DigitLinear;
  static constexpr const char* variant = "layernorm";
  static constexpr double glyph_error = 0.3579, mnist_error = 0.0677;
  static constexpr auto model() { return Model(Shape{784}, LayerNorm{}, detail::digit_logits); }
};
// Weights start with variance 1 instead of 1 / 784.
struct DigitLinearLargeInit : DigitLinear {
  using Base = DigitLinear;
  static constexpr const char* variant = "large_init";
  static constexpr double glyph_error = 0.3847, mnist_error = 0.0793;
  static constexpr auto model() { return Model(detail::digit_shape, detail::large_digit_logits); }
};

struct DigitMlpTanh;
struct DigitMlpLayerNorm;
struct DigitMlpResnet;
struct DigitMlpModelSize;
struct DigitMlpLargeInit;
// An MLP with layers 784-256-256-10.
struct DigitMlp {
  static constexpr const char* name = "mlp";
  using Variants = Tuple<DigitMlpTanh, DigitMlpLayerNorm, DigitMlpResnet, DigitMlpModelSize, DigitMlpLargeInit>;
  static constexpr double glyph_error = 0.0197, mnist_error = 0.0215;
  static constexpr std::uint64_t step_hint = 1333;
  static constexpr auto model() { return mlp(detail::digit_shape, {256, 256}, 10); }
};
// tanh instead of ReLUs.
struct DigitMlpTanh : DigitMlp {
  using Base = DigitMlp;
  static constexpr const char* variant = "tanh";
  static constexpr double glyph_error = 0.0227, mnist_error = 0.0221;
  static constexpr auto model() { return mlp<Tanh>(detail::digit_shape, {256, 256}, 10); }
};
// A layer norm after each hidden layer.
struct DigitMlpLayerNorm : DigitMlp {
  using Base = DigitMlp;
  static constexpr const char* variant = "layernorm";
  static constexpr double glyph_error = 0.0195, mnist_error = 0.0213;
  static constexpr auto model() {
    constexpr Dense hidden{.units = 256};
    return Model(detail::digit_shape, hidden, Relu{}, LayerNorm{}, hidden, Relu{}, LayerNorm{}, detail::digit_logits);
  }
};
// The second hidden layer is a residual block.
struct DigitMlpResnet : DigitMlp {
  using Base = DigitMlp;
  static constexpr const char* variant = "resnet";
  static constexpr double glyph_error = 0.0211, mnist_error = 0.0211;
  static constexpr auto model() {
    constexpr Dense hidden{.units = 256};
    return Model(detail::digit_shape, hidden, Relu{}, Residual(hidden, Relu{}), detail::digit_logits);
  }
};
// Layers 784-64-64-10.
struct DigitMlpModelSize : DigitMlp {
  using Base = DigitMlp;
  static constexpr const char* variant = "model_size";
  static constexpr double glyph_error = 0.0407, mnist_error = 0.0262;
  static constexpr auto model() { return mlp(detail::digit_shape, {64, 64}, 10); }
};
// The weights of the logits start with variance 1 instead of 1 / 256.
struct DigitMlpLargeInit : DigitMlp {
  using Base = DigitMlp;
  static constexpr const char* variant = "large_init";
  static constexpr double glyph_error = 0.0253, mnist_error = 0.0224;
  static constexpr auto model() {
    constexpr Dense hidden{.units = 256};
    return Model(detail::digit_shape, hidden, Relu{}, hidden, Relu{}, detail::large_digit_logits);
  }
};

// The Simple CNN of Shallue et al. 2018 with half the filters and an eighth of the units: 16 and 32 filters, 128 units.
struct DigitCnnGelu;
struct DigitCnnLayerNorm;
struct DigitCnnResnet;
struct DigitCnnModelSize;
struct DigitCnnLargeInit;
struct DigitCnn {
  static constexpr const char* name = "cnn";
  using Variants = Tuple<DigitCnnGelu, DigitCnnLayerNorm, DigitCnnResnet, DigitCnnModelSize, DigitCnnLargeInit>;
  static constexpr double glyph_error = 0.0161, mnist_error = 0.0157;
  static constexpr std::uint64_t step_hint = 267;
  static constexpr auto model() { return simple_cnn(detail::digit_shape, 10, detail::digit_cnn); }
};
// GELUs instead of ReLUs.
struct DigitCnnGelu : DigitCnn {
  using Base = DigitCnn;
  static constexpr const char* variant = "gelu";
  static constexpr double glyph_error = 0.0113, mnist_error = 0.0145;
  static constexpr auto model() { return simple_cnn<Gelu>(detail::digit_shape, 10, detail::digit_cnn); }
};
// A layer norm over positions and channels after each convolution.
struct DigitCnnLayerNorm : DigitCnn {
  using Base = DigitCnn;
  static constexpr const char* variant = "layernorm";
  static constexpr double glyph_error = 0.0194, mnist_error = 0.0174;
  static constexpr auto model() {
    return Model(detail::digit_shape, Conv2d{.filters = 16, .size = 5, .padding = 2}, GroupNorm{}, Relu{}, MaxPool{},
                 Conv2d{.filters = 32, .size = 5, .padding = 2}, GroupNorm{}, Relu{}, MaxPool{}, Flatten{},
                 Dense{.units = 128}, Relu{}, detail::digit_logits);
  }
};
// A residual convolution after the first pooling, and another after the second.
struct DigitCnnResnet : DigitCnn {
  using Base = DigitCnn;
  static constexpr const char* variant = "resnet";
  static constexpr double glyph_error = 0.0189, mnist_error = 0.0197;
  static constexpr auto model() {
    return Model(detail::digit_shape, Conv2d{.filters = 16, .size = 5, .padding = 2}, Relu{}, MaxPool{},
                 Residual(Conv2d{.filters = 16, .size = 3, .padding = 1}, Relu{}),
                 Conv2d{.filters = 32, .size = 5, .padding = 2}, Relu{}, MaxPool{},
                 Residual(Conv2d{.filters = 32, .size = 3, .padding = 1}, Relu{}), Flatten{}, Dense{.units = 128},
                 Relu{}, detail::digit_logits);
  }
};
// Half the filters and units.
struct DigitCnnModelSize : DigitCnn {
  using Base = DigitCnn;
  static constexpr const char* variant = "model_size";
  static constexpr double glyph_error = 0.0266, mnist_error = 0.0209;
  static constexpr auto model() {
    return simple_cnn(detail::digit_shape, 10, {.filters1 = 8, .filters2 = 16, .units = 64});
  }
};
// The weights of the logits start with variance 1 instead of 1 / 128.
struct DigitCnnLargeInit : DigitCnn {
  using Base = DigitCnn;
  static constexpr const char* variant = "large_init";
  static constexpr double glyph_error = 0.1527, mnist_error = 0.0226;
  static constexpr auto model() {
    return Model(detail::digit_shape, Conv2d{.filters = 16, .size = 5, .padding = 2}, Relu{}, MaxPool{},
                 Conv2d{.filters = 32, .size = 5, .padding = 2}, Relu{}, MaxPool{}, Flatten{}, Dense{.units = 128},
                 Relu{}, detail::large_digit_logits);
  }
};

// ResNet-8 with 77,754 parameters and ghost batch norms of 64 examples.
struct DigitResNet8 {
  static constexpr const char* name = "resnet8";
  static constexpr double glyph_error = 0.006, mnist_error = 0.01, label_smoothing = 0.1;
  static constexpr std::uint64_t step_hint = 1200;
  static constexpr SmallResNet<> model() { return {.ghost = 64, .in = detail::digit_shape}; }
};
// A Vision Transformer of 2 blocks on 49 patches of 4 x 4 pixels, with 105,994 parameters.
struct DigitVit {
  static constexpr const char* name = "vit";
  static constexpr double glyph_error = 0.017, mnist_error = 0.035, label_smoothing = 0.1;
  static constexpr std::uint64_t step_hint = 1500;
  static constexpr VisionTransformer model() { return {.blocks = 2, .in = detail::digit_shape}; }
};

}  // namespace algoperf
