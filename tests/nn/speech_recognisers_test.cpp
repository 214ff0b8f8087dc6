// Speech recognisers against torch (tests/golden/make_deep_speech.py, make_conformer.py), and their threads.
#include <doctest/doctest.h>

#include <algoperf/algoperf.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "../golden/conformer.hpp"
#include "../golden/deep_speech.hpp"
#include "../support/check_error.hpp"
#include "../support/reproducible.hpp"

namespace algoperf::testing::of_speech {

// In AlgoPerf's size, with 1024 symbols and 80 bands; its convolutions pad the bands to 20 instead of 19.
static_assert(parameters_of(DeepSpeech<>{
                  .bands = 80, .width = 512, .recurrent = 6, .feed_forward = 3, .symbols = 1024}) ==
              18381312 - 512 * 512);

static_assert(parameters_of(Conformer<>{.bands = 80, .width = 512, .blocks = 4, .heads = 8, .symbols = 1024}) ==
              32321792 - 512 * 512);

template <class Activation = Relu>
constexpr DeepSpeech<Activation> small{.bands = 11, .width = 4, .recurrent = 1, .feed_forward = 1, .symbols = 3};
template <class Activation = Silu>
constexpr Conformer<Activation> small_conformer{
    .bands = 11, .width = 4, .blocks = 1, .heads = 2, .hidden = 6, .kernel = 3, .symbols = 3};

using Speech = InMemoryFields<Field<"input", double>, Field<"label", std::int32_t>>;
Speech golden_speech() {
  std::vector<double> inputs;
  for (int i = 0; i < 12 * 77; ++i) inputs.push_back(std::sin(0.1 + 0.37 * i));
  return Speech({{"frames", {5, 3, 4}}, {"symbols", {2, 1, 2}}}, {inputs, {7, 11, 1}, "frames"},
                {{1, 2, 1, 2, 2}, {1}, "symbols"});
}

TEST_CASE("deep speech: losses, gradients, steps of AdamW, running averages and the evaluation are torch's") {
  const Speech data = golden_speech();
  golden::check(small<>, CtcLoss{}, data, golden::deep_speech);
  golden::check(small<Tanh>, CtcLoss{}, data, golden::deep_speech_tanh);
  DeepSpeech<> variant = small<>;
  variant.layer_norm = true;
  golden::check(variant, CtcLoss{}, data, golden::deep_speech_layer_norm);
  variant = small<>;
  variant.residual = false;
  // The bias before a batch norm has no effect.
  golden::check(variant, CtcLoss{}, data, golden::deep_speech_no_resnet, "subsampled.bias", "recurrent.0.norm.mean");
}

TEST_CASE("conformer: losses, gradients, steps of AdamW, running averages and the evaluation are torch's") {
  const auto check = [data = golden_speech()](const auto& model, const golden::Model& expected) {
    golden::check(model, CtcLoss{}, data, expected, "kv.bias");  // the biases of keys
  };
  Conformer<> variant = small_conformer<>;
  check(variant, golden::conformer);
  variant.block_norm = false;
  check(variant, golden::conformer_layernorm);
  variant = small_conformer<>;
  variant.attention_temperature = 1.6;
  check(variant, golden::conformer_temperature);
  check(small_conformer<GeluTanh>, golden::conformer_gelu);
}

TEST_CASE("speech recognisers: gradients agree with differences") {
  check_error(gradient_check(small<>, CtcLoss{.max_labels = 3}, {.batch = 3, .rows = 9, .samples = 12}));
  check_error(gradient_check(small_conformer<>, CtcLoss{.max_labels = 3}, {.batch = 3, .rows = 9, .samples = 12}));
}

TEST_CASE("deep speech: training is deterministic and resumes") {
  const auto learner = [](const auto&... tail) {
    return TrainingLoop(DeepSpeech<Tanh>{.bands = 11, .width = 4, .recurrent = 1, .symbols = 3, .dropout = 0.2},
                        CtcLoss{.max_labels = 2}, adamw(), Constant{1e-2}, ShuffledEpochs{.batch = 3}, tail...);
  };
  check_reproducible(learner, golden_speech(), 6);
}

TEST_CASE("conformer: training is deterministic and resumes") {
  const auto learner = [](const auto&... tail) {
    Conformer<> model = small_conformer<>;
    model.dropout = 0.2;
    return TrainingLoop(model, CtcLoss{.max_labels = 2}, adamw(), Constant{1e-2}, ShuffledEpochs{.batch = 3}, tail...);
  };
  check_reproducible(learner, golden_speech(), 6);
}

TEST_CASE("speech recognisers: errors") {
  const auto error_of = [](const auto& model) {
    try {
      layout_of(Objective<std::remove_cvref_t<decltype(model)>, CtcLoss>{model, {}});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(error_of(DeepSpeech<>{.bands = 6}).find("the model has bands 6, expected at least 7") != std::string::npos);
  CHECK(error_of(Conformer<>{.heads = 5}).find("PerDimScale has heads 5, expected a divisor of the width, 32") !=
        std::string::npos);
  CHECK(error_of(Conformer<>{.kernel = 4}).find("DepthwiseConv1d has size 4, expected an odd number") !=
        std::string::npos);
  CHECK(error_of(Conformer<>{.width = 4, .heads = 2, .kernel = 4}).find("block.0.convolution.depthwise") !=
        std::string::npos);
  CHECK(error_of(DeepSpeech<>{.width = 5}).find("DeepSpeech has width 5, expected an even number") !=
        std::string::npos);
}

}  // namespace algoperf::testing::of_speech
