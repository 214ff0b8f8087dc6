// Recurrent models against torch (tests/golden/make_lstm.py), their threads, workers and resumption, and a text that
// one learns.
#include <doctest/doctest.h>

#include <algoperf/algoperf.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../golden/lstm.hpp"
#include "../support/check_error.hpp"
#include "../support/near.hpp"
#include "../support/reproducible.hpp"
#include "../support/sentence.hpp"

namespace algoperf::testing::of_lstm {

constexpr LstmLanguageModel small{.vocabulary = 11, .context = 6, .width = 4, .units = 5, .layers = 2};
static_assert(parameters_of(small) == 11 * 4 + 20 * (4 + 1 + 5) + 20 * (5 + 1 + 5) + 11 * 6);

std::vector<std::int32_t> sequence(int count, int factor, int first, int modulus) {
  std::vector<std::int32_t> values;
  for (int i = 0; i < count; ++i) values.push_back((factor * i + first) % modulus);
  return values;
}
using Tokens = InMemoryFields<Field<"input", std::int32_t>, Field<"label", std::int32_t>>;
Tokens golden_sequences() { return Tokens({sequence(18, 7, 3, 11), {6}}, {sequence(18, 5, 1, 11), {6}}); }

// Classifies sequences of different lengths by the means of both directions.
struct Classifier {
  std::size_t vocabulary = 11, width = 4, units = 5, classes = 3;
  bool of_tokens = false;  // whether the LSTMs, not an op of its own, look up the table, which they share
  template <class Net>
  constexpr Value operator()(Net& net) const {
    const SharedTensor table = net.tensor("embedding.weight", Kind::embedding, {vocabulary, width}, Init::unit_normal);
    const LookUp look_up{.table = table, .vocabulary = vocabulary, .width = width};
    const Value tokens = net.tokens("input", {1}, net.ragged_axis("time"));
    const LookUp embedding = of_tokens ? look_up : LookUp{};
    const Value x = of_tokens ? tokens : net("embedding", look_up, tokens);
    const Value forward = net("forward", Lstm{.units = units, .embedding = embedding}, x);
    const Value backward = net("backward", Lstm{.units = units, .reverse = true, .embedding = embedding}, x);
    return net("logits", Dense{.units = classes}, net(PoolRows{}, net(Concat{}, forward, backward)));
  }
};
Tokens ragged_sequences(const std::vector<std::uint32_t>& lengths) {
  int rows = 0;
  for (const std::uint32_t length : lengths) rows += static_cast<int>(length);
  return Tokens({{"time", lengths}}, {sequence(rows, 7, 3, 11), {1}, "time"},
                {sequence(static_cast<int>(lengths.size()), 1, 0, 3), {1}});
}

TEST_CASE("lstm: losses, gradients and steps of AdamW are torch's") {
  golden::check(small, SoftmaxCrossEntropy{}, golden_sequences(), golden::language_model);
  const auto ragged = ragged_sequences({3, 1, 5, 2});
  for (const bool of_tokens : {false, true}) {
    const Classifier classifier{.of_tokens = of_tokens};
    golden::check(classifier, SoftmaxCrossEntropy{}, ragged, golden::classifier);
  }
}

TEST_CASE("lstm: a language model looks up its table in an op of its own if the vocabulary is large") {
  const auto has_embedding = [](const LstmLanguageModel& model) {
    Recorder<> net;
    model(net);
    for (const auto& op : net.graph().ops)
      if (net.graph().path(op.scope, op.name) == "embedding") return true;
    return false;
  };
  LstmLanguageModel model = small;
  model.vocabulary = 4 * model.context;
  CHECK(!has_embedding(model));
  model.dropout = 0.1;
  CHECK(has_embedding(model));
  model.dropout = 0;
  ++model.vocabulary;
  CHECK(has_embedding(model));
}

TEST_CASE("lstm: gradients agree with differences, with dropout, too") {
  LstmLanguageModel dropped = small;
  dropped.dropout = 0.3;
  for (const LstmLanguageModel& model : {small, dropped}) {
    check_error(gradient_check(model, SoftmaxCrossEntropy{}, {.batch = 2, .samples = 10}));
  }
  for (const bool of_tokens : {false, true})
    check_error(gradient_check(Classifier{.of_tokens = of_tokens}, SoftmaxCrossEntropy{}, {.batch = 5, .samples = 10}));
}

// More examples than a block has, some of them without rows, and one far longer than the others.
std::vector<std::uint32_t> many_lengths() {
  std::vector<std::uint32_t> lengths;
  for (std::uint32_t i = 0; i < 37; ++i) lengths.push_back(i == 20 ? 40 : i * 7 % 5);
  return lengths;
}

TEST_CASE("lstm: an example has the outputs that it has alone, and one without rows those of an empty mean") {
  const auto data = ragged_sequences(many_lengths());
  TrainingLoop loop(Classifier{}, SoftmaxCrossEntropy{}, adamw(), Constant{0.05}, ShuffledEpochs{.batch = 20},
                    Host<double>{});
  for (int i = 0; i < 3; ++i) loop.step(data);
  const auto together = loop.predict(data, 37), alone = loop.predict(data, 1);
  REQUIRE(together.size() == 37 * 3);
  for (std::size_t i = 0; i < together.size(); ++i) CHECK(together[i] == near(alone[i], 1e-12));
  for (std::size_t c = 0; c < 3; ++c) CHECK(together[c] == loop.values("logits.bias")[c]);
}

TEST_CASE("lstm: threads change no bit, workers nearly none, and a resumed run continues with the same bits") {
  const auto data = ragged_sequences(many_lengths());
  const auto learner = [](const auto&... tail) {
    return TrainingLoop(Classifier{.units = 9}, SoftmaxCrossEntropy{}, adamw(), Constant{0.02},
                        ShuffledEpochs{.batch = 35}, tail...);
  };
  check_reproducible(learner, data, 5);
  check_workers(learner, data, 5);

  // Wide enough for all ways in which products are computed; the threads have blocks of 32 or of 16 examples.
  for (const bool of_tokens : {false, true}) {
    const auto wide = [of_tokens](const auto&... tail) {
      return TrainingLoop(Classifier{.units = 70, .of_tokens = of_tokens}, SoftmaxCrossEntropy{}, adamw(),
                          Constant{0.02}, ShuffledEpochs{.batch = 35}, tail...);
    };
    check_reproducible(wide, data, 3);
    auto one = wide(), three = wide(Host<>{.threads = 3});
    CHECK(one.predict(data, 37) == three.predict(data, 37));
  }
}

TEST_CASE("lstm: learns a text") {
  const TextSequences data(Text::from_string("the quick brown fox jumps over the lazy dog. pack my box with five dozen "
                                             "liquor jugs. how vexingly quick daft zebras jump! "),
                           {.length = 16, .stride = 3});
  const LstmLanguageModel model{.vocabulary = data.text().classes(), .context = 16, .width = 16, .units = 32};
  TrainingLoop loop(model, SoftmaxCrossEntropy{}, adamw(), Constant{0.03}, ShuffledEpochs{.batch = 16});
  for (int i = 0; i < 150; ++i) loop.step(data);
  CHECK(loop.evaluate(data, CrossEntropy{}).metric < 1);  // log(29) = 3.4 at the start
}

TEST_CASE("lstm: mistakes name the block") {
  const auto refused = [](const auto& model) {
    return sentence([&] { TrainingLoop(model, SoftmaxCrossEntropy{}, sgd(), Constant{1.0}, golden::WholeBatch{3}); });
  };
  CHECK(
      refused([](auto& net) { return net("lstm", Lstm{.units = 2}, net.field("input", {3})); }) ==
      "lstm: Lstm expects several rows per example, got shape {3} on the axis 'examples'; net.rows_of() makes rows of "
      "an example's first extent");
  CHECK(refused([](auto& net) {
          const SharedTensor table = net.tensor("table", Kind::embedding, {5, 4}, Init::unit_normal);
          const Lstm lstm{.units = 2, .embedding = {.table = table, .vocabulary = 5, .width = 4}};
          return net("lstm", lstm, net.tokens("input", {3}, net.axis("time", 2)));
        }) == "lstm: Lstm with an embedding expects one token per row, got shape {3}");
  CHECK(refused(LstmLanguageModel{.context = 0}) == "context is 0, expected at least 1");
  CHECK(refused(LstmLanguageModel{.units = 0}) == "lstm.0: Lstm: units is 0, expected at least 1");
}

}  // namespace algoperf::testing::of_lstm
