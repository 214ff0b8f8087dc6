// A Transformer that translates, against torch (tests/golden/make_encoder_decoder.py), and its threads.
#include <doctest/doctest.h>

#include <algoperf/algoperf.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../golden/encoder_decoder.hpp"
#include "../support/check_error.hpp"
#include "../support/reproducible.hpp"

namespace algoperf::testing::of_encoder_decoder {

constexpr EncoderDecoder<Relu> variant(EncoderDecoder<Relu> model, bool post_norm, double temperature) {
  model.post_norm = post_norm;
  model.attention_temperature = temperature;
  return model;
}

constexpr EncoderDecoder<Tanh> gated(EncoderDecoder<Tanh> model) {
  model.glu = true;
  return model;
}

// In AlgoPerf's size.
constexpr EncoderDecoder<> large{.vocabulary = 32000, .width = 1024, .blocks = 6, .heads = 16, .hidden = 1024};
static_assert(parameters_of(large) == 133521408);
static_assert(parameters_of(variant(large, true, 1)) == 133517312);
static_assert(parameters_of(EncoderDecoder<Tanh>{
                  .vocabulary = 32000, .width = 1024, .blocks = 6, .heads = 16, .hidden = 1024, .glu = true}) ==
              146116608);

template <class Activation = Relu>
constexpr EncoderDecoder<Activation> small{.vocabulary = 7, .width = 4, .blocks = 1, .heads = 2, .hidden = 3};

using Pairs = InMemoryFields<Field<"source", std::int32_t>, Field<"input", std::int32_t>, Field<"label", std::int32_t>>;
Pairs golden_pairs() {
  const auto tokens = [](int n, int factor, int first) {
    std::vector<std::int32_t> values;
    for (int i = 0; i < n; ++i) values.push_back((i * factor + first) % 7);
    return values;
  };
  return Pairs({{"source", {3, 1, 4}}, {"target", {2, 3, 1}}}, {tokens(8, 7, 3), {1}, "source"},
               {tokens(6, 5, 1), {1}, "target"}, {tokens(6, 3, 2), {1}, "target"});
}

TEST_CASE("encoder and decoder: losses, gradients, steps of AdamW and logits are torch's, also of the variants") {
  const auto check = [data = golden_pairs()](const auto& model, const golden::Model& expected) {
    golden::check(model, SoftmaxCrossEntropy{.label_smoothing = 0.1}, data, expected);
  };
  check(small<>, golden::encoder_decoder);
  check(variant(small<>, true, 1), golden::encoder_decoder_post_ln);
  check(variant(small<>, false, 4), golden::encoder_decoder_attention_temp);
  check(gated(small<Tanh>), golden::encoder_decoder_glu_tanh);
}

// With this seed, two sources and a target have no tokens.
TEST_CASE("encoder and decoder: gradients agree with differences, also with sentences of no tokens") {
  const SoftmaxCrossEntropy loss{.label_smoothing = 0.1};
  EncoderDecoder<Tanh> model = gated(small<Tanh>);
  model.post_norm = true;
  check_error(gradient_check(small<>, loss, {.batch = 4, .samples = 12, .seed = 2}));
  check_error(gradient_check(model, loss, {.batch = 4, .samples = 12, .seed = 2}));
}

TEST_CASE("encoder and decoder: training is deterministic and resumes") {
  const auto learner = [](const auto&... tail) {
    EncoderDecoder<> model = small<>;
    model.dropout = 0.2;
    return TrainingLoop(model, SoftmaxCrossEntropy{}, adamw(), Constant{1e-2}, ShuffledEpochs{.batch = 3}, tail...);
  };
  check_reproducible(learner, golden_pairs(), 6);
}

}  // namespace algoperf::testing::of_encoder_decoder
