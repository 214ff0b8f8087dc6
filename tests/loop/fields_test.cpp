// Training on data sets and models with fields of any names: several inputs, labels and weights per row.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "../support/near.hpp"
#include "../support/refused_step.hpp"
#include "tagger.hpp"
#include "tiny.hpp"

namespace algoperf::testing::of_fields {

using namespace tagging;

// Selects examples in their order.
struct Sequence {
  std::size_t batch = 1;
  struct State {
    std::size_t size = 0, next = 0;
    template <class Archive>
    void visit(Archive& archive) {
      archive.number("next", next);
    }
  };
  State state(std::size_t size) const { return {size}; }
  void select(State& state, Step, Selection& selection) const {
    selection.indices.clear();
    for (std::size_t i = 0; i < batch; ++i)
      selection.indices.push_back(static_cast<std::uint32_t>(state.next++ % state.size));
    selection.weights.assign(batch, 1.0f);
  }
};

// A model of two inputs, and the same as a model of the joined one.
struct TwoInputs {
  template <class Net>
  constexpr Value operator()(Net& net) const {
    const Value left = net.field("left", {2});
    return net("0", Dense{.units = 3}, net("join", Concat{}, left, net.field("right", {4})));
  }
};
using TwoFields = InMemoryFields<Field<"right", double>, Field<"left", float>, Field<"label", std::int32_t>>;

// The tagger for data sets of single words.
constexpr auto single_tagger() {
  return Model(Shape{1}, Embedding{.vocabulary = words, .width = 6}, Relu{}, Dense{.units = tags});
}
InMemory<std::int32_t> single_words() {
  return {tokens(examples * length, words, 1), tokens(examples * length, tags, 2), Shape{1}, tags};
}

// Returns copies of the losses of five steps in order.
template <class Loop, class Data>
std::vector<double> losses(Loop& loop, const Data& data) {
  std::vector<double> all;
  for (int i = 0; i < 5; ++i) all.push_back(*loop.step(data).loss);
  return all;
}
// Half of the weights are 0.
std::vector<float> positive_weights() {
  std::vector<float> weights = numbers(examples * length, 9);
  for (float& w : weights) w = w < 0 ? 0.0f : w;
  return weights;
}
// Gives b the parameters of a; the models declare the same tensors in the same order.
template <class A, class B>
void copy_values(A& a, B& b) {
  REQUIRE(a.layout().size() == b.layout().size());
  std::copy_n(a.values(), a.layout().size(), b.values());
}

TEST_CASE("fields: a model of two inputs trains as a model of the joined input") {
  const std::vector<float> left = numbers(examples * 2, 1), right = numbers(examples * 4, 2);
  const std::vector<std::int32_t> labels = tokens(examples, 3, 3);
  const TwoFields data({{right.begin(), right.end()}, {4}}, {left, {2}}, {labels, {1}});
  std::vector<float> joined;
  for (std::size_t i = 0; i < examples; ++i) {
    joined.insert(joined.end(), left.begin() + static_cast<std::ptrdiff_t>(2 * i),
                  left.begin() + static_cast<std::ptrdiff_t>(2 * i + 2));
    joined.insert(joined.end(), right.begin() + static_cast<std::ptrdiff_t>(4 * i),
                  right.begin() + static_cast<std::ptrdiff_t>(4 * i + 4));
  }
  const InMemory<float> joined_data(joined, labels, Shape{6}, 3);
  const Model joined_model(Shape{6}, Dense{.units = 3});
  const ShuffledEpochs batches{.batch = 16};
  TrainingLoop loop(TwoInputs{}, SoftmaxCrossEntropy{}, adamw(), Constant{0.05}, batches);
  TrainingLoop expected(joined_model, SoftmaxCrossEntropy{}, adamw(), Constant{0.05}, batches);
  CHECK(same_values(loop, expected));  // the same initial values
  CHECK(losses(loop, data) == losses(expected, joined_data));
  CHECK(same_values(loop, expected));
  const EvaluationReport found = loop.evaluate(data, ErrorRate{}), wanted = expected.evaluate(joined_data, ErrorRate{});
  CHECK(found.loss == wanted.loss);
  CHECK(found.metric == wanted.metric);
  const auto logits = loop.predict(data);
  CHECK(logits == expected.predict(joined_data));
  Predictor predictor(TwoInputs{});
  std::copy_n(loop.values(), loop.layout().size(), predictor.values());
  CHECK(predictor.predict(data) == logits);
  CHECK(loop.predict(data.subset(3, 30).subset(4, 17)) == loop.predict(data.subset(7, 20)));
  CHECK(data.subset(3, 30).whole().size() == examples);
  CHECK(sentence([&] { data.subset(3, 41); }) == "Slice: the range is [3, 41), expected begin <= end <= 40");
  CHECK(sentence([&] { data.subset(3, 30).subset(4, 28); }) ==
        "Slice: the range is [4, 28), expected begin <= end <= 27");
  // Part of the data, whose batches have other sizes and may be rounded differently, and the same in double.
  const auto part = loop.predict(data.subset(7, 20));
  REQUIRE(part.size() == 39);
  for (std::size_t i = 0; i < part.size(); ++i) CHECK(std::abs(part[i] - logits[21 + i]) < 1e-5f);
  TrainingLoop exact(TwoInputs{}, SoftmaxCrossEntropy{}, adamw(), Constant{0.05}, batches, Host<double>{});
  TrainingLoop again(TwoInputs{}, SoftmaxCrossEntropy{}, adamw(), Constant{0.05}, batches);
  const auto of_float = losses(again, data), of_double = losses(exact, data);
  for (std::size_t i = 0; i < 5; ++i) CHECK(of_float[i] == near(of_double[i], 1e-4));
}

TEST_CASE("fields: a loss per word, with the bits of a batch of single words") {
  TrainingLoop loop(Tagger{}, SoftmaxCrossEntropy{}, adamw(), Constant{0.05}, Sequence{.batch = 10});
  TrainingLoop expected(single_tagger(), SoftmaxCrossEntropy{}, adamw(), Constant{0.05},
                        Sequence{.batch = 10 * length});
  copy_values(loop, expected);
  const Sentences data = sentences();
  CHECK(losses(loop, data) == losses(expected, single_words()));
  CHECK(same_values(loop, expected));
  const EvaluationReport found = loop.evaluate(data, ErrorRate{}, 7);
  const EvaluationReport wanted = expected.evaluate(single_words(), ErrorRate{}, 7 * length);
  CHECK(found.loss == near(wanted.loss, 1e-14));
  CHECK(found.metric == near(wanted.metric, 1e-14));
  CHECK(loop.predict(data) == expected.predict(single_words()));
  CHECK(loop.predict(data).size() == examples * length * tags);
}

TEST_CASE("fields: a slice of more examples than it shifts at a time") {
  const Sentences data({tokens(200 * length, words, 1), {length}}, {tokens(200 * length, tags, 2), {length}},
                       {numbers(200 * length, 3), {length}});
  TrainingLoop loop(Tagger{}, SoftmaxCrossEntropy{}, sgd(), Constant{0.5}, Sequence{.batch = 150});
  const auto all = loop.predict(data, 150), part = loop.predict(data.subset(5, 195), 150);
  REQUIRE(part.size() == 190 * length * tags);
  CHECK(std::equal(part.begin(), part.end(), all.begin() + 5 * length * tags));
}

TEST_CASE("fields: workers and threads with a loss per word") {
  const Sentences data = sentences();
  const auto run = [&](const auto& combiner, std::size_t workers, unsigned threads) {
    TrainingLoop loop(Tagger{}, SoftmaxCrossEntropy{}, sgd(), Constant{0.5}, ShuffledEpochs{.batch = 8}, combiner,
                      InProcess{workers}, Host<>{.threads = threads});
    losses(loop, data);
    return values_of(loop);
  };
  const auto one = run(Mean{}, 1, 1);
  TrainingLoop start(Tagger{}, SoftmaxCrossEntropy{}, sgd(), Constant{0.5}, ShuffledEpochs{.batch = 8});
  CHECK(one != values_of(start));
  CHECK(run(Mean{}, 1, 3) == one);
  const auto three = run(Mean{}, 3, 1);
  for (std::size_t i = 0; i < one.size(); ++i) CHECK(three[i] == near(one[i], 1e-4));
}

TEST_CASE("Weighted: words of weight 0 count for nothing, and the divisor is the sum of the weights") {
  // Sentences of 1, 2 or 3 words, padded with words of weight 0.
  std::vector<float> weights(examples * length, 0.0f);
  std::vector<std::int32_t> kept_words, kept_tags;
  const auto all_words = tokens(examples * length, words, 1), all_tags = tokens(examples * length, tags, 2);
  for (std::size_t i = 0; i < examples; ++i)
    for (std::size_t t = 0; t <= i % length; ++t) {
      weights[i * length + t] = 2.5f;
      kept_words.push_back(all_words[i * length + t]);
      kept_tags.push_back(all_tags[i * length + t]);
    }
  const Sentences data = sentences(weights);
  const InMemory<std::int32_t> kept(kept_words, kept_tags, Shape{1}, tags);
  TrainingLoop loop(Tagger{}, Weighted{SoftmaxCrossEntropy{.label_smoothing = 0.1}}, sgd(), Constant{0.5},
                    Sequence{.batch = examples});
  TrainingLoop expected(single_tagger(), SoftmaxCrossEntropy{.label_smoothing = 0.1}, sgd(), Constant{0.5},
                        Sequence{.batch = kept.size()});
  copy_values(loop, expected);
  for (int i = 0; i < 5; ++i) CHECK(*loop.step(data).loss == near(*expected.step(kept).loss, 1e-6));
  for (std::size_t i = 0; i < loop.layout().size(); ++i)
    CHECK(loop.values()[i] == doctest::Approx(expected.values()[i]).epsilon(1e-5));
  const EvaluationReport found = loop.evaluate(data, ErrorRate{}, 6), wanted = expected.evaluate(kept, ErrorRate{});
  CHECK(found.loss == near(wanted.loss, 1e-6));
  CHECK(found.metric == near(wanted.metric, 1e-6));
}

TEST_CASE("Weighted: workers whose weights differ agree with one worker") {
  std::vector<float> weights = positive_weights();
  std::fill_n(weights.begin(), 2 * length, 0.0f);  // the first of five workers has none
  const Sentences data = sentences(weights);
  const auto run = [&](std::size_t workers) {
    TrainingLoop loop(Tagger{}, Weighted{SoftmaxCrossEntropy{}}, sgd(), Constant{0.5}, Sequence{.batch = 10}, Mean{},
                      InProcess{workers}, Host<double>{});
    const std::vector<double> of_steps = losses(loop, data);
    auto values = values_of(loop);
    values.insert(values.end(), of_steps.begin(), of_steps.end());
    return values;
  };
  const auto one = run(1), five = run(5);
  for (std::size_t i = 0; i < one.size(); ++i) CHECK(five[i] == doctest::Approx(one[i]).epsilon(1e-12));
}

TEST_CASE("Weighted: the weights of a selection do not enter the divisor") {
  struct Twice : Sequence {
    void select(State& state, Step step, Selection& selection) const {
      Sequence::select(state, step, selection);
      for (float& w : selection.weights) w = 2;
    }
  };
  const Sentences data = sentences(positive_weights());
  TrainingLoop once(Tagger{}, Weighted{SoftmaxCrossEntropy{}}, sgd(), Constant{0.5}, Sequence{.batch = 10});
  TrainingLoop twice(Tagger{}, Weighted{SoftmaxCrossEntropy{}}, sgd(), Constant{0.25}, Twice{{.batch = 10}});
  const double loss = *once.step(data).loss;
  CHECK(loss > 0.5);
  CHECK(*twice.step(data).loss == 2 * loss);
  CHECK(same_values(once, twice));
}

TEST_CASE("Weighted: a selector sees the mean of an example's weighted losses, and weights of 0 give a loss of 0") {
  struct Listening : Sequence {
    std::vector<double>* heard = nullptr;
    void feedback(State&, const Selection& selection, const std::vector<float>& losses) const {
      heard->assign(losses.begin(), losses.begin() + static_cast<std::ptrdiff_t>(selection.indices.size()));
    }
  };
  const std::vector<float> weights = positive_weights();
  std::vector<double> plain, weighted;
  TrainingLoop of_rows(single_tagger(), SoftmaxCrossEntropy{}, sgd(), Constant{0.5},
                       Listening{{.batch = 4 * length}, &plain});
  TrainingLoop loop(Tagger{}, Weighted{SoftmaxCrossEntropy{}}, sgd(), Constant{0.5},
                    Listening{{.batch = 4}, &weighted});
  copy_values(loop, of_rows);
  of_rows.step(single_words());
  loop.step(sentences(weights));
  REQUIRE(plain.size() == 4 * length);
  REQUIRE(weighted.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    double mean = 0;
    for (std::size_t r = i * length; r < (i + 1) * length; ++r)
      mean += plain[r] * static_cast<double>(weights[r]) / length;
    CHECK(weighted[i] == near(mean, 1e-5));
  }

  TrainingLoop idle(Tagger{}, Weighted{SoftmaxCrossEntropy{}}, sgd(), Constant{0.5}, Sequence{.batch = 4});
  const auto before = values_of(idle);
  const Sentences nothing = sentences(std::vector<float>(examples * length, 0.0f));
  CHECK(*idle.step(nothing).loss == 0);
  CHECK(values_of(idle) == before);
  CHECK(sentence([&] { idle.evaluate(nothing, ErrorRate{}); }) ==
        "TrainingLoop: the examples of an evaluation have no rows, or their weights are 0");
}

TEST_CASE("fields: the rows of an example have its weight in the selection") {
  TrainingLoop loop(Tagger{}, SoftmaxCrossEntropy{}, sgd(), Constant{0.5}, Always({4, 1}, {0.5f, 2.0f}));
  std::vector<std::uint32_t> rows;
  std::vector<float> weights;
  for (std::uint32_t r = 0; r < 2 * length; ++r) {
    rows.push_back(r < length ? 4 * length + r : r);
    weights.push_back(r < length ? 0.5f : 2.0f);
  }
  TrainingLoop expected(single_tagger(), SoftmaxCrossEntropy{}, sgd(), Constant{0.5}, Always(rows, weights));
  copy_values(loop, expected);
  CHECK(*loop.step(sentences()).loss == *expected.step(single_words()).loss);
  CHECK(same_values(loop, expected));
}

TEST_CASE("fields: predictions need no labels, and outputs are what the model returns") {
  using Words = InMemoryFields<Field<"words", std::int32_t>>;
  const Words unlabelled({tokens(examples * length, words, 1), {length}});
  const auto keeps_more = [](auto& net) {
    const Value y = Tagger{}(net);
    net.keep(net("more", Dense{.units = 2}, y));
    return y;
  };
  TrainingLoop loop(keeps_more, Weighted{SoftmaxCrossEntropy{}}, sgd(), Constant{0.5}, Sequence{.batch = 4});
  loop.step(sentences());
  const auto logits = loop.predict(sentences());
  CHECK(logits.size() == examples * length * tags);
  CHECK(loop.predict(unlabelled) == logits);
  Predictor predictor(keeps_more);
  std::copy_n(loop.values(), loop.layout().size(), predictor.values());
  CHECK(predictor.predict(unlabelled) == logits);
  CHECK(sentence([&] { loop.step(unlabelled); }) ==
        "data: the model reads the field 'label', which the data set does not have; it has 'words'");
}

// A data set that forgets a field.
struct Forgetful {
  using Fields = Sentences::Fields;
  std::size_t size() const { return 4; }
  Shape shape(std::string_view) const { return {length}; }
  template <class To>
  void gather(const std::uint32_t*, std::size_t n, const To& to) const {
    std::fill_n(to.template at<"words">(), n * length, 0);
    std::fill_n(to.template at<"label">(), n * length, 0);
  }
};

TEST_CASE("fields: a data set that does not write a field, images of another order, and too many examples") {
  TrainingLoop loop(Tagger{}, Weighted{SoftmaxCrossEntropy{}}, sgd(), Constant{0.5}, Sequence{.batch = 4});
  CHECK(sentence([&] { loop.step(Forgetful{}); }) ==
        "data: gather() wrote no field 'weight' of the type that the model reads");
  TrainingLoop plain(Tagger{}, SoftmaxCrossEntropy{}, sgd(), Constant{0.5}, Sequence{.batch = 4});
  CHECK(sentence([&] { plain.step(Forgetful{}); }).empty());

  const auto reads_image = [](auto& net) { return net(Dense{.units = 2}, net.field("pixels", {4, 4, 3})); };
  TrainingLoop of_images(reads_image, SoftmaxCrossEntropy{}, sgd(), Constant{0.5}, Sequence{.batch = 1});
  const InMemoryFields<Field<"pixels", float>, Field<"label", std::int32_t>> first({numbers(48, 1), {3, 4, 4}},
                                                                                   {{1}, {1}});
  CHECK(sentence([&] { of_images.step(first); }) ==
        "data: an example is an image of shape {3, 4, 4}, the model takes {4, 4, 3} (rows, columns, channels)");

  struct Endless : Forgetful {
    std::size_t size() const { return std::size_t{1} << 33; }
  };
  CHECK(sentence([&] { Slice(Endless{}, std::size_t{1} << 32, (std::size_t{1} << 32) + 9); }) ==
        "Slice: the range ends at example 4294967305, expected at most 4294967295: indices have 32 bits");
}

TEST_CASE("fields: a model with a loss of its own is refused, and so is the check of a Weighted loss") {
  const auto with_loss = [](auto& net) {
    const Value y = Tagger{}(net);
    net(LossOf(SoftmaxCrossEntropy{}), y, net.tokens("other", {1}, y.axis));
    return y;
  };
  CHECK(sentence([&] { TrainingLoop(with_loss, SoftmaxCrossEntropy{}, sgd(), Constant{0.5}, Sequence{.batch = 4}); }) ==
        "TrainingLoop: the model and its loss record 2 losses, expected one");
  CHECK(sentence([&] { gradient_check(Tagger{}, Weighted{SoftmaxCrossEntropy{}}); }) ==
        "gradient_check: the loss is Weighted; check the loss that it wraps");
}

TEST_CASE("fields: mistakes name the field and the example") {
  TrainingLoop loop(Tagger{}, Weighted{SoftmaxCrossEntropy{}}, sgd(), Constant{0.5}, Sequence{.batch = 4});
  const auto step_on = [&](const auto& data) { return refused_step(loop, data); };
  const auto good = tokens(6, tags, 1);
  const std::vector<float> ones(6, 1.0f);
  using Word = Field<"words", std::int32_t>;
  using Label = Field<"label", std::int32_t>;
  CHECK(step_on(InMemoryFields<Word, Label>({good, {3}}, {good, {3}})) ==
        "data: the model reads the field 'weight', which the data set does not have; it has 'words', 'label'");
  CHECK(step_on(single_words()) ==
        "data: the model reads the field 'words', which the data set does not have; it has 'input', 'label'");
  CHECK(step_on(InMemoryFields<Word, Label, Field<"weight", float>>({good, {3}}, {good, {3}}, {ones, {1, 3}})).empty());
  CHECK(step_on(Sentences({good, {2}}, {good, {2}}, {ones, {2}})) ==
        "data: the field 'words' has shape {2} with 2 elements per example, the model reads 3");
  CHECK(step_on(InMemoryFields<Field<"words", float>, Label, Field<"weight", float>>({ones, {3}}, {good, {3}},
                                                                                     {ones, {3}})) ==
        "data: the field 'words' holds real values, the model reads tokens");
  CHECK(step_on(InMemoryFields<Word, Label, Field<"weight", std::int32_t>>({good, {3}}, {good, {3}}, {good, {3}})) ==
        "data: the field 'weight' holds tokens (std::int32_t), the model reads real values");
  CHECK(step_on(Sentences({{}, {3}}, {{}, {3}}, {{}, {3}})) == "data: the data set is empty");
  auto wrong = good;
  wrong[4] = 5;
  CHECK(step_on(Sentences({wrong, {3}}, {good, {3}}, {ones, {3}})) ==
        "data: element 1 of the field 'words' of example 1 is 5, expected [0, 5)");
  wrong[4] = -1;
  CHECK(step_on(Sentences({good, {3}}, {wrong, {3}}, {ones, {3}})) ==
        "data: label 1 of example 1 is -1, expected [0, 4)");
  auto infinite = ones;
  infinite[5] = std::numeric_limits<float>::infinity();
  CHECK(step_on(Sentences({good, {3}}, {good, {3}}, {infinite, {3}})) ==
        "data: element 2 of the field 'weight' of example 1 is inf, expected a finite number of at least 0");
  infinite[5] = -0.5f;
  CHECK(step_on(Sentences({good, {3}}, {good, {3}}, {infinite, {3}})) ==
        "data: element 2 of the field 'weight' of example 1 is -0.5, expected a finite number of at least 0");
  CHECK(sentence([&] {
          Sentences({good, {4}}, {good, {3}}, {ones, {3}});
        }) ==
        "InMemoryFields: the field 'words' has 6 values, expected a multiple of 4, those of one example of shape {4}");
  CHECK(sentence([&] {
          Sentences({good, {3}}, {good, {2}}, {ones, {3}});
        }) == "InMemoryFields: the field 'label' has 3 examples, the field 'words' 2");
}

}  // namespace algoperf::testing::of_fields
