// Decoder-only Transformers against torch (tests/golden/make_transformers.py), their threads, workers and resumption,
// and a text that they learn.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../golden/transformers.hpp"
#include "../support/check_error.hpp"
#include "../support/near.hpp"
#include "../support/reproducible.hpp"
#include "algoperf/loop/generate.hpp"
#include "tiny.hpp"

namespace algoperf::testing::of_transformers {

constexpr Gpt small_gpt{.vocabulary = 11, .context = 6, .width = 8, .layers = 2, .heads = 2, .hidden = 12};
static_assert(parameters_of(small_gpt) == 11 * 8 + 6 * 8 + 2 * (4 * 8 + 24 * 9 + 8 * 9 + 12 * 9 + 8 * 13) + 16);

constexpr RotaryTransformer small_rotary{
    .vocabulary = 11, .context = 6, .width = 8, .layers = 2, .heads = 2, .hidden = 12};
static_assert(parameters_of(RotaryTransformer{}) == 147778);  // reference value of AlgoPerf's model in miniature

auto golden_data() {
  std::vector<std::int32_t> tokens, labels;
  for (std::int32_t i = 0; i < 18; ++i) {
    tokens.push_back((7 * i + 3) % 11);
    labels.push_back((5 * i + 1) % 11);
  }
  return InMemoryFields<Field<"input", std::int32_t>, Field<"label", std::int32_t>>({tokens, {6}}, {labels, {6}});
}

TEST_CASE("transformers: losses, gradients and steps of AdamW are torch's") {
  golden::check(small_gpt, SoftmaxCrossEntropy{}, golden_data(), golden::gpt, "qkv.bias");  // the biases of keys
  golden::check(small_rotary, SoftmaxCrossEntropy{}, golden_data(), golden::rotary_transformer);
}

TEST_CASE("transformers: gradients agree with differences, with dropout, too") {
  Gpt dropped = small_gpt;
  dropped.dropout = 0.3;
  check_error(gradient_check(small_gpt, SoftmaxCrossEntropy{}, {.batch = 2, .samples = 20}));
  check_error(gradient_check(small_rotary, SoftmaxCrossEntropy{}, {.batch = 2, .samples = 20}));
  check_error(gradient_check(dropped, SoftmaxCrossEntropy{}, {.batch = 2, .samples = 5}));
}

TEST_CASE("transformers: numbers of heads that do not divide the width name the block") {
  const auto refused = [](const RotaryTransformer& model) {
    return sentence([&] { TrainingLoop(model, SoftmaxCrossEntropy{}, sgd(), Constant{1.0}, golden::WholeBatch{3}); });
  };
  CHECK(refused({.heads = 3}) == "block.0: heads is 3, expected a divisor of half the width, 64");
  CHECK(refused({.heads = 0}) == "block.0: heads is 0, expected a divisor of half the width, 64");
  CHECK(refused({.heads = 64}) == "block.0: heads is 64, expected a divisor of half the width, 64");
  CHECK(refused({.context = 1}) == "context is 1, expected at least 2");
}

TEST_CASE("transformers: initial values") {
  const auto deviation = [](const auto& model, const char* tensor) {
    TrainingLoop loop(model, SoftmaxCrossEntropy{}, sgd(), Constant{1.0}, golden::WholeBatch{3}, Host<double>{});
    double squares = 0;
    const auto values = loop.values(tensor);
    for (const double x : values) squares += x * x;
    return std::sqrt(squares / static_cast<double>(values.size()));
  };
  const Gpt gpt{.layers = 8};
  CHECK(deviation(gpt, "block.7.up.weight") == near(0.02, 0.03));
  CHECK(deviation(gpt, "block.7.down.weight") == near(0.005, 0.03));
  const RotaryTransformer rotary{.layers = 8};
  CHECK(deviation(rotary, "block.0.qkv.weight") == near(0.02, 0.03));
  CHECK(deviation(rotary, "block.0.out.weight") == near(0.005, 0.03));
  CHECK(deviation(rotary, "block.7.down.weight") == near(0.005, 0.03));
  CHECK(deviation(rotary, "block.0.query_key_norm.scale") == near(std::log2(64.0 * 63), 1e-14));
  CHECK(deviation(rotary, "norm.scale") == 1);
}

const TextSequences& pangrams() {
  static const TextSequences data(
      Text::from_string("the quick brown fox jumps over the lazy dog. pack my box with five dozen liquor jugs. how "
                        "vexingly quick daft zebras jump! sphinx of black quartz, judge my vow. "),
      {.length = 16, .stride = 3});
  return data;
}
Gpt gpt_learner() {
  return {
      .vocabulary = pangrams().text().classes(), .context = 16, .width = 16, .layers = 1, .heads = 2, .dropout = 0.05};
}
RotaryTransformer rotary_learner() {
  return {.vocabulary = pangrams().text().classes(), .context = 16, .width = 16, .layers = 1, .heads = 2};
}
template <class Model, class... Tail>
auto learner(const Model& model, const Tail&... tail) {
  return TrainingLoop(model, SoftmaxCrossEntropy{}, adamw(), Constant{0.02}, ShuffledEpochs{.batch = 16}, tail...);
}

template <class Model>
void check_learning(const Model& model) {
  auto loop = learner(model);
  for (int i = 0; i < 150; ++i) loop.step(pangrams());
  const double nats = loop.evaluate(pangrams(), CrossEntropy{}).metric;
  CHECK(nats < 1);  // log(31) = 3.4 at the start
  CHECK(loop.evaluate(pangrams(), Perplexity{}).metric == near(std::exp(nats), 1e-12));
  // Another end of a sequence changes only the outputs after it.
  std::vector<std::int32_t> tokens = pangrams().text().encode("the quick brown ");
  const auto logits = loop.predict(tokens);
  tokens[9] = tokens[0];
  const auto changed = loop.predict(tokens);
  const std::size_t same = 9 * pangrams().text().classes();
  CHECK(std::equal(logits.begin(), logits.begin() + static_cast<std::ptrdiff_t>(same), changed.begin()));
  CHECK(logits[same] != changed[same]);
}
TEST_CASE("transformers: learn a text, and predict no character from later ones") {
  check_learning(gpt_learner());
  check_learning(rotary_learner());
}

template <class Model>
void check_promises(const Model& model) {
  const auto make = [&](const auto&... tail) { return learner(model, tail...); };
  check_reproducible(make, pangrams(), 5);
  check_workers(make, pangrams(), 5);
}
TEST_CASE("transformers: threads change no bit, workers nearly none, and a resumed run continues with the same bits") {
  check_promises(gpt_learner());
  check_promises(rotary_learner());
}

TEST_CASE("generate: continues a text that a model has learnt") {
  std::string days;
  for (int i = 0; i < 20; ++i) days += "one two three four five six seven ";
  const TextSequences data(Text::from_string(days, {.context = 1}), {.length = 16, .stride = 5});
  const Text& text = data.text();
  const RotaryTransformer model{.vocabulary = text.classes(), .context = 16, .width = 16, .layers = 1, .heads = 2};
  auto loop = learner(model);
  for (int i = 0; i < 200; ++i) loop.step(data);
  Predictor predictor(model, Host<>{}, 1);
  load_values(values_dict(loop), predictor);
  const auto continued = [&](const char* prompt, const GenerateOptions& options) {
    return text.decode(generate(predictor, text.encode(prompt), options));
  };
  // From fewer tokens than the context has, and from more.
  CHECK(continued("one tw", {.count = 20, .temperature = 0}) == "o three four five si");
  CHECK(continued("five six seven one two three fo", {.count = 10, .temperature = 0}) == "ur five si");
  const GenerateOptions drawn{.count = 40, .temperature = 3, .seed = 5};
  CHECK(continued("one tw", drawn) == continued("one tw", drawn));
  CHECK(continued("one tw", drawn) != continued("one tw", {.count = 40, .temperature = 3, .seed = 6}));
  CHECK(generate(predictor, {0}, {.count = 0}).empty());

  CHECK(sentence([&] { generate(predictor, {}); }) ==
        "generate: there are no tokens to continue, expected at least one");
  CHECK(sentence([&] { generate(predictor, {0}, {.temperature = -1}); }) ==
        "generate: the temperature is -1, expected at least 0");
  CHECK(sentence([&] { generate(predictor, {31}); }).find("31") != std::string::npos);
  Predictor of_next(next_character(4, 5), Host<>{}, 1);
  CHECK(sentence([&] { generate(of_next, {0}); }) ==
        "generate: the model has 1 rows of outputs per example, expected one per token, 4");
  predictor.values("norm.scale")[0] = NAN;
  CHECK(sentence([&] { generate(predictor, {0}); }) == "generate: logit 0 of token 1 is nan, expected a finite number");
}

template <class Model>
void check_generated(const Model& model) {
  Predictor predictor(model, Host<double>{}, 1);
  RandomStream random(RandomKey{4});
  for (std::size_t i = 0; i < predictor.layout().size(); ++i) predictor.values()[i] = 0.4 * random.normal();
  for (const std::size_t known : {1u, 3u, 8u, 11u}) {
    std::vector<std::int32_t> all;
    for (std::size_t i = 0; i < known; ++i)
      all.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(model.vocabulary))));
    const auto found = generate(predictor, all, {.count = 20, .temperature = 0});
    for (const std::int32_t token : found) {
      const std::size_t n = std::min<std::size_t>(all.size(), 8);
      std::vector<std::int32_t> window(all.end() - static_cast<std::ptrdiff_t>(n), all.end());
      window.resize(8, 1);
      const auto logits = predictor.predict(window);
      const auto last = logits.begin() + static_cast<std::ptrdiff_t>((n - 1) * model.vocabulary);
      CHECK(token == std::max_element(last, last + static_cast<std::ptrdiff_t>(model.vocabulary)) - last);
      all.push_back(token);
    }
    CHECK(found.size() == 20);
  }
}
TEST_CASE("generate: tokens are those of passes over the last tokens") {
  check_generated(RotaryTransformer{.vocabulary = 9, .context = 8, .width = 8, .layers = 2, .heads = 2});
  check_generated(Gpt{.vocabulary = 9, .context = 8, .width = 8, .layers = 1, .heads = 2});
  check_generated(LstmLanguageModel{.vocabulary = 9, .context = 8, .width = 4, .units = 6});
  // Without a row of outputs per token, a model cannot decode, but generate.
  Predictor of_next(next_character(1, 5), Host<>{}, 1);
  std::fill(of_next.values(), of_next.values() + of_next.layout().size(), 0.1f);
  CHECK(!of_next.decodes());
  CHECK(generate(of_next, {4}, {.count = 3}).size() == 3);
}

TEST_CASE("generate: draws tokens with the model's probabilities") {
  const double logits[] = {0, std::log(2.0), -1e9, std::log(3.0)};
  const auto frequencies = [&](double temperature) {
    RandomStream random(RandomKey{3});
    std::vector<double> found(4);
    for (int i = 0; i < 20000; ++i) found[detail::sample_index(logits, 4, temperature, random)] += 1.0 / 20000;
    return found;
  };
  const auto one = frequencies(1), half = frequencies(0.5);
  const double of_one[] = {1.0 / 6, 2.0 / 6, 0, 3.0 / 6}, of_half[] = {1.0 / 14, 4.0 / 14, 0, 9.0 / 14};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(std::abs(one[i] - of_one[i]) < 0.012);
    CHECK(std::abs(half[i] - of_half[i]) < 0.012);
  }
  CHECK(frequencies(0)[3] == near(1, 1e-9));
}

// Where a data set writes its fields.
struct Written {
  std::vector<std::int32_t>&inputs, &labels;
  template <FieldName name>
  std::int32_t* at() const {
    return std::string_view(name) == "input" ? inputs.data() : labels.data();
  }
};

TEST_CASE("text sequences: characters and the ones after them") {
  const Text text = Text::from_string("abcabcabca", {.context = 1});
  const TextSequences data(text, {.length = 3});
  REQUIRE(data.size() == 3);
  std::vector<std::int32_t> inputs(6), labels(6);
  const std::uint32_t indices[] = {1, 0};
  data.subset(1, 3).gather(indices, 2, Written{inputs, labels});  // characters 6 to 9, and 3 to 6
  CHECK(text.decode(inputs) == "abcabc");
  CHECK(text.decode(labels) == "bcabca");
  TextSequences(text, {.length = 3, .stride = 2}).gather(indices, 1, Written{inputs, labels});
  CHECK(text.decode(inputs.data(), 3) == "cab");
  CHECK(text.decode(labels.data(), 3) == "abc");
  CHECK(data.subset(1, 3).size() == 2);
  CHECK(TextSequences(text, {.length = 3, .stride = 1}).size() == 7);
  CHECK(sentence([&] { TextSequences(text, {.length = 10}); }) ==
        "TextSequences: the text has 10 characters, expected more than the length of a sequence, 10");
  CHECK(sentence([&] { TextSequences(text, {.length = 0}); }) == "TextSequences: length is 0, expected at least 1");
  CHECK(sentence([&] { data.subset(2, 4); }) == "Slice: the range is [2, 4), expected begin <= end <= 3");
}

}  // namespace algoperf::testing::of_transformers
