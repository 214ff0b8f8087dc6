// Vision Transformers against torch (tests/golden/make_vision_transformer.py), and their parts.
#include <doctest/doctest.h>

#include <algoperf/algoperf.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../golden/vision_transformer.hpp"
#include "../support/check_error.hpp"
#include "../support/reproducible.hpp"
#include "../support/sentence.hpp"

namespace ap = algoperf;
using ap::Value;

namespace of_vision_transformer {
namespace {

constexpr ap::VisionTransformer variant(ap::VisionTransformer model, bool post_norm, bool glu, bool attention_pooling) {
  model.post_norm = post_norm;
  model.glu = glu;
  model.attention_pooling = attention_pooling;
  return model;
}
// AlgoPerf's ViT-S/16 and its variants.
constexpr ap::VisionTransformer large{
    .patch = 16, .width = 384, .blocks = 12, .heads = 6, .hidden = 1536, .classes = 1000, .in = {224, 224, 3}};
static_assert(ap::parameters_of(large) == 22122472);
static_assert(ap::parameters_of(variant(large, true, false, false)) == 22121704);
static_assert(ap::parameters_of(variant(large, false, true, false)) == 50452456);
static_assert(ap::parameters_of(variant(large, false, false, true)) == 23896552);

constexpr ap::VisionTransformer small{
    .patch = 2, .width = 8, .blocks = 1, .heads = 2, .hidden = 6, .classes = 3, .in = {4, 6, 3}};

TEST_CASE("vision transformer: losses, gradients and steps of AdamW are torch's, also of the variants") {
  std::vector<double> pixels;
  for (int i = 0; i < 3 * 72; ++i) pixels.push_back(std::sin(0.1 + 0.37 * i));
  const ap::InMemoryFields<ap::Field<"input", double>, ap::Field<"label", std::int32_t>> data({pixels, {4, 6, 3}},
                                                                                              {{0, 1, 2}, {1}});
  const ap::SoftmaxCrossEntropy loss{.label_smoothing = 0.1};
  const auto check = [&](const ap::VisionTransformer& model, const golden::Model& expected) {
    golden::check(model, loss, data, expected, "kv.bias");  // the biases of keys
  };
  ap::VisionTransformer two_blocks = small;
  two_blocks.blocks = 2;
  check(two_blocks, golden::vision_transformer);
  check(variant(small, true, false, false), golden::vision_transformer_post_ln);
  check(variant(small, false, true, false), golden::vision_transformer_glu);
  check(variant(small, false, false, true), golden::vision_transformer_map);
}

TEST_CASE("vision transformer: gradients agree with differences") {
  for (const ap::VisionTransformer& model :
       {small, variant(small, true, false, false), variant(small, false, true, true)})
    ap::testing::check_error(
        ap::gradient_check(model, ap::SoftmaxCrossEntropy{.label_smoothing = 0.1}, {.samples = 8}));
}

TEST_CASE("vision transformer: threads change no bit, and a resumed run continues with the same bits") {
  using namespace algoperf::testing;
  std::vector<float> pixels(40 * 72);
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<float>(std::sin(0.1 + 1.7 * static_cast<double>(i)));
  for (int i = 0; i < 40; ++i) labels.push_back(i % 3);
  const ap::InMemory<float> data(pixels, labels, {4, 6, 3}, 3);
  const auto learner = [](const auto&... tail) {
    return ap::TrainingLoop(variant(small, false, true, true), ap::SoftmaxCrossEntropy{}, ap::adamw(),
                            ap::Constant{0.01}, ap::ShuffledEpochs{.batch = 8}, tail...);
  };
  check_reproducible(learner, data, 12);
}

TEST_CASE("vision transformer: initial values") {
  ap::TrainingLoop loop(ap::VisionTransformer{.attention_pooling = true}, ap::SoftmaxCrossEntropy{}, ap::sgd(),
                        ap::Constant{1}, ap::ShuffledEpochs{.batch = 4});
  const auto most = [&](const char* tensor) {
    float largest = 0;
    for (const float x : loop.values(tensor)) largest = std::max(largest, std::fabs(x));
    return static_cast<double>(largest);
  };
  const double bound = std::sqrt(6.0 / 128);  // of a tensor of 64 x 64, also as a part of a larger one
  for (const char* const tensor : {"block.0.qkv.weight", "block.3.out.weight", "pool.kv.weight"}) {
    CAPTURE(tensor);
    CHECK(most(tensor) < bound);
    CHECK(most(tensor) > 0.98 * bound);
  }
  CHECK(most("block.1.up.weight") < std::sqrt(6.0 / 320));
  CHECK(most("block.1.up.bias") > 0);
  CHECK(most("block.1.up.bias") < 1e-5);
  CHECK(most("block.1.qkv.bias") == 0);
  CHECK(most("pool.probe") < std::sqrt(6.0 / 65));
  CHECK(most("pool.probe") > 0.8 * std::sqrt(6.0 / 65));
  CHECK(most("logits.weight") == 0);
}

TEST_CASE("repeated tensors: gradients, and what is refused") {
  const auto model = [](auto& net) {
    const auto tensor = net.tensor("rows", ap::Kind::weight, {2, 3}, ap::Init::unit_normal);
    const Value rows = net(ap::RepeatTensor{tensor, net.axis("rows", 2), 3});
    const Value x = net("in", ap::Dense{.units = 3}, net.field("x", {2}, rows.axis));
    return net(ap::LossOf(ap::SoftmaxCrossEntropy{}), net(ap::Product{}, rows, x), net.tokens("label", {1}, rows.axis));
  };
  ap::testing::check_error(ap::gradient_check(model));
  const auto refused = [](const auto& of) {
    return sentence([&] {
      ap::Recorder<> net;
      of(net);
    });
  };
  CHECK(refused([](auto& net) {
          const auto tensor = net.tensor("rows", ap::Kind::weight, {2, 3}, ap::Init::zeros);
          net(ap::RepeatTensor{tensor, net.axis("rows", 2), 4});
        }) == "repeat_tensor: the tensor has shape {2, 3}, expected 2 rows of 4 elements, for the axis 'rows'");
  CHECK(refused([](auto& net) { net(ap::GridPositions{.columns = 2}, net.field("x", {4}, net.axis("cells", 3))); }) ==
        "grid_positions: columns is 2, expected a divisor of the number of rows, 3");
  CHECK(refused([](auto& net) { net(ap::GridPositions{.columns = 3}, net.field("x", {6}, net.axis("cells", 3))); }) ==
        "grid_positions: the width is 6, expected a multiple of 4");
  CHECK(refused([](auto& net) { net(ap::GridPositions{}, net.field("x", {4}, net.ragged_axis("cells"))); }) ==
        "grid_positions: expected a fixed number of several rows per example, got shape {4} on the axis 'cells'");
  CHECK(refused([](auto& net) {
          ap::VisionTransformer{.in = {32, 30, 3}}(net);
        }) ==
        "the images have shape {32, 30, 3}, expected {rows, columns, channels} with multiples of 4 rows and columns");
}

}  // namespace
}  // namespace of_vision_transformer
