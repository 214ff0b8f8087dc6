// A decoder-only Transformer against torch (tests/golden/make_gpt.py), its threads, workers and resumption, and a text
// that it learns.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../golden/gpt.hpp"
#include "../memory_archive.hpp"
#include "../support/near.hpp"
#include "tiny.hpp"

namespace algoperf::testing::of_gpt {

constexpr Gpt golden_model{.vocabulary = 11, .context = 6, .width = 8, .layers = 2, .heads = 2, .hidden = 12};
static_assert(parameters_of(golden_model) == 11 * 8 + 6 * 8 + 2 * (4 * 8 + 24 * 9 + 8 * 9 + 12 * 9 + 8 * 13) + 16);

auto golden_data() {
  std::vector<std::int32_t> tokens, labels;
  for (std::int32_t i = 0; i < 18; ++i) {
    tokens.push_back((7 * i + 3) % 11);
    labels.push_back((5 * i + 1) % 11);
  }
  return InMemoryFields<Field<"input", std::int32_t>, Field<"label", std::int32_t>>({tokens, {6}}, {labels, {6}});
}

// The examples in order, in every step.
auto whole_batch() { return Always(range(0, 3)); }

template <class Loop>
void set_golden_values(Loop& loop) {
  for (std::size_t k = 0; k < golden::gpt_tensors.size(); ++k) {
    const std::string name = golden::gpt_tensors[k].name;
    const auto values = loop.values(name);
    REQUIRE(values.size() == golden::gpt_tensors[k].values.size());
    const double one = name.ends_with("scale") ? 1 : 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = one + 0.4 * std::sin(1 + 0.7 * static_cast<double>(k) + 1.3 * static_cast<double>(i));
  }
}

// The largest difference, relative to the largest expected value, or to 1e-3 if that is smaller: the gradients of the
// keys' biases are 0 but for rounding.
double error_of(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  double most = 0, largest = 1e-3;
  for (std::size_t i = 0; i < found.size(); ++i) {
    most = std::max(most, std::abs(found[i] - expected[i]));
    largest = std::max(largest, std::abs(expected[i]));
  }
  return most / largest;
}

TEST_CASE("gpt: the loss and every gradient are torch's") {
  TrainingLoop loop(golden_model, SoftmaxCrossEntropy{}, sgd(), Constant{1.0}, whole_batch(), Host<double>{});
  REQUIRE(loop.layout().tensors().size() == golden::gpt_tensors.size());
  set_golden_values(loop);
  const auto before = values_of(loop);
  CHECK(*loop.step(golden_data()).loss == near(golden::gpt_losses[0], 1e-13));
  for (const golden::GptTensor& tensor : golden::gpt_tensors) {
    const std::string name = tensor.name;
    CAPTURE(name);
    const TensorPlace place = loop.layout().place_of(loop.layout().find(name));
    std::vector<double> gradient;
    for (std::size_t i = place.offset; i < place.offset + place.size; ++i)
      gradient.push_back(before[i] - loop.values()[i]);
    CHECK(error_of(gradient, tensor.gradient) < 1e-12);
  }
}

TEST_CASE("gpt: three steps of AdamW are torch's") {
  TrainingLoop loop(golden_model, SoftmaxCrossEntropy{}, adamw({.weight_decay = 0.1}), Constant{0.01}, whole_batch(),
                    Host<double>{});
  set_golden_values(loop);
  for (std::size_t t = 0; t < 3; ++t) CHECK(*loop.step(golden_data()).loss == near(golden::gpt_losses[t], 1e-12));
  for (const golden::GptTensor& tensor : golden::gpt_tensors) {
    const std::string name = tensor.name;
    CAPTURE(name);
    const auto values = loop.values(name);
    // AdamW divides the rounding of the keys' biases, whose gradient is 0, by its eps of 1e-8.
    CHECK(error_of({values.begin(), values.end()}, tensor.values) < (name.ends_with("qkv.bias") ? 1e-9 : 1e-10));
  }
  CHECK(*loop.step(golden_data()).loss == near(golden::gpt_losses[3], 1e-10));
}

TEST_CASE("gpt: gradients agree with differences, with dropout, too") {
  const auto check = gradient_check(golden_model, SoftmaxCrossEntropy{}, {.batch = 2, .samples = 20});
  INFO(check.tensor, " element ", check.element);
  CHECK(check.error < 1e-6);
  Gpt dropped = golden_model;
  dropped.dropout = 0.3;
  CHECK(gradient_check(dropped, SoftmaxCrossEntropy{}, {.batch = 2, .samples = 5}).error < 1e-6);
}

const TextSequences& pangrams() {
  static const TextSequences data(
      Text::from_string("the quick brown fox jumps over the lazy dog. pack my box with five dozen liquor jugs. how "
                        "vexingly quick daft zebras jump! sphinx of black quartz, judge my vow. "),
      {.length = 16, .stride = 3});
  return data;
}
template <class... Tail>
auto learner(const Tail&... tail) {
  const Gpt model{
      .vocabulary = pangrams().text().classes(), .context = 16, .width = 16, .layers = 1, .heads = 2, .dropout = 0.05};
  return TrainingLoop(model, SoftmaxCrossEntropy{}, adamw(), Constant{0.02}, ShuffledEpochs{.batch = 16}, tail...);
}

TEST_CASE("gpt: learns a text, and predicts no character from later ones") {
  auto loop = learner();
  for (int i = 0; i < 150; ++i) loop.step(pangrams());
  CHECK(loop.evaluate(pangrams(), CrossEntropy{}).metric < 1);  // log(31) = 3.4 at the start
  // Another end of a sequence changes only the outputs after it.
  std::vector<std::int32_t> tokens = pangrams().text().encode("the quick brown ");
  const auto logits = loop.predict(tokens);
  tokens[9] = tokens[0];
  const auto changed = loop.predict(tokens);
  const std::size_t same = 9 * pangrams().text().classes();
  CHECK(std::equal(logits.begin(), logits.begin() + static_cast<std::ptrdiff_t>(same), changed.begin()));
  CHECK(logits[same] != changed[same]);
}

TEST_CASE("gpt: threads change no bit, workers nearly none, and a resumed run continues with the same bits") {
  const auto run = [](const auto&... tail) {
    auto loop = learner(tail...);
    for (int i = 0; i < 5; ++i) loop.step(pangrams());
    return values_of(loop);
  };
  const auto one = run();
  CHECK(run(Host<>{.threads = 2}) == one);
  CHECK(run(Host<>{.threads = 3}) == one);
  const auto four = run(Mean{}, InProcess{4});
  for (std::size_t i = 0; i < one.size(); ++i) CHECK(std::abs(four[i] - one[i]) < 1e-3);

  auto saved = learner(), resumed = learner();
  for (int i = 0; i < 3; ++i) saved.step(pangrams());
  MemoryWriter writer;
  saved.visit(writer);
  MemoryReader reader{writer.saved};
  resumed.visit(reader);
  for (int i = 0; i < 2; ++i) resumed.step(pangrams());
  CHECK(values_of(resumed) == one);
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

}  // namespace algoperf::testing::of_gpt
