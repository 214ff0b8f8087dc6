// Training on examples with different numbers of rows.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <algoperf/data/prefetched.hpp>
#include <algoperf/data/transformed.hpp>
#include <algoperf/loop/observers/until.hpp>

#include "../memory_archive.hpp"
#include "../support/near.hpp"
#include "../support/refused_step.hpp"
#include "ragged.hpp"
#include "tiny.hpp"

namespace algoperf::testing::of_ragged {

using namespace ragged;

template <class Loop, class Data>
std::vector<double> losses(Loop& loop, const Data& data, int steps = 5) {
  std::vector<double> all;
  for (int i = 0; i < steps; ++i) all.push_back(*loop.step(data).loss);
  return all;
}
// Gives b the parameters of a; the models declare the same tensors in the same order.
template <class A, class B>
void copy_values(A& a, B& b) {
  REQUIRE(a.layout().size() == b.layout().size());
  std::copy_n(a.values(), a.layout().size(), b.values());
}
std::vector<std::uint32_t> first_examples(std::size_t n) { return range(0, static_cast<std::uint32_t>(n)); }

// The tagger on examples of `length` words each.
struct FixedTagger {
  std::size_t length;
  template <class Net>
  constexpr Value operator()(Net& net) const {
    return tags_of(net, net.tokens("words", {1}, net.axis("words", length)));
  }
};

TEST_CASE("ragged: examples with the same number of rows give the bits of an axis with a fixed number") {
  const std::size_t length = 4;
  const std::vector<std::int32_t> words = tokens(examples * length, vocabulary, 1);
  const std::vector<std::int32_t> tags = tokens(examples * length, classes, 2);
  const Sentences ragged({{"words", std::vector<std::uint32_t>(examples, length)}}, {words, {1}, "words"},
                         {tags, {1}, "words"});
  const Sentences fixed({words, {length}}, {tags, {length}});
  const ShuffledEpochs batches{.batch = 7};
  TrainingLoop loop(Tagger{}, SoftmaxCrossEntropy{}, adamw(), Constant{0.05}, batches, Mean{}, InProcess{2});
  TrainingLoop expected(FixedTagger{length}, SoftmaxCrossEntropy{}, adamw(), Constant{0.05}, batches, Mean{},
                        InProcess{2});
  CHECK(losses(loop, ragged) == losses(expected, fixed));
  CHECK(same_values(loop, expected));
  CHECK(loop.predict(ragged) == expected.predict(fixed));
  CHECK(loop.evaluate(ragged, ErrorRate{}).metric == expected.evaluate(fixed, ErrorRate{}).metric);
}

TEST_CASE("ragged: a batch has the loss of its rows, whatever examples they belong to") {
  const Sentences data = sentences();
  const InMemory<std::int32_t> rows(all_words(), all_tags(), Shape{1}, classes);
  TrainingLoop loop(Tagger{}, SoftmaxCrossEntropy{}, sgd(), Constant{0.5}, Always(first_examples(examples)));
  TrainingLoop expected(
      Model(Shape{1}, Embedding{.vocabulary = vocabulary, .width = 6}, Relu{}, Dense{.units = classes}),
      SoftmaxCrossEntropy{}, sgd(), Constant{0.5}, Always(first_examples(rows.size())));
  copy_values(loop, expected);
  CHECK(losses(loop, data) == losses(expected, rows));
  CHECK(same_values(loop, expected));
  CHECK(loop.predict(data, 3) == expected.predict(rows));
  const EvaluationReport found = loop.evaluate(data, ErrorRate{}, 6), wanted = expected.evaluate(rows, ErrorRate{});
  CHECK(found.loss == near(wanted.loss, 1e-6));
  CHECK(found.metric == near(wanted.metric, 1e-14));
  Predictor predictor(Tagger{}, Host<>{}, 3);
  std::copy_n(loop.values(), loop.layout().size(), predictor.values());
  CHECK(predictor.predict(data) == loop.predict(data, 3));
  CHECK(sentence([&] { predictor.output_rows(); }) ==
        "Predictor: examples have different numbers of outputs, on the ragged axis 'words'");
}

TEST_CASE("ragged: an example has the outputs that it has alone") {
  const Sentences data = sentences();
  TrainingLoop loop(Reader{}, SoftmaxCrossEntropy{}, adamw(), Constant{0.01}, ShuffledEpochs{.batch = 8},
                    Host<double>{});
  losses(loop, data, 3);
  const std::vector<double> together = loop.predict(data, examples), alone = loop.predict(data, 1);
  REQUIRE(together.size() == all_words().size() * classes);
  REQUIRE(alone.size() == together.size());
  for (std::size_t i = 0; i < alone.size(); ++i) CHECK(together[i] == near(alone[i], 1e-12));
  const std::vector<double> part = loop.predict(data.subset(2, 30).subset(3, 20), 64);
  const std::size_t before = rows_before(5) * classes;
  REQUIRE(part.size() == (rows_before(22) - rows_before(5)) * classes);
  for (std::size_t i = 0; i < part.size(); ++i) CHECK(part[i] == near(together[before + i], 1e-12));
}

// Models of numbers of edges with outputs for nodes: the sum over the edges that a node receives, and the mean of all.
// Only labels lie on the axis of nodes.
struct SumOfReceived {
  template <class Net>
  constexpr Value operator()(Net& net) const {
    const GraphIndex nodes = net.ragged_axis("nodes"), edges = net.ragged_axis("edges");
    const Value x = net("out", Dense{.units = classes}, net.field("weights", {classes}, edges));
    return net(SegmentSum{}, x, net.row_indices("receivers", edges, nodes));
  }
};
struct MeanOfEdges {
  template <class Net>
  constexpr Value operator()(Net& net) const {
    const Value x = net("out", Dense{.units = classes}, net.field("weights", {classes}, net.ragged_axis("edges")));
    return net(RepeatRows{net.ragged_axis("nodes")}, net(PoolRows{}, x));
  }
};

TEST_CASE("ragged: predictions have the rows of an axis on which only labels are fields") {
  const RaggedAxis nodes{"nodes", {2, 3}}, edges{"edges", {1, 2}};
  const std::vector<std::int32_t> receivers{1, 0, 2};
  const std::vector<float> weights{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const InMemoryFields<Field<"receivers", std::int32_t>, Field<"weights", float>> data(
      {nodes, edges}, {receivers, {1}, "edges"}, {weights, {classes}, "edges"});
  const auto predictions = [&](const auto& model) {
    TrainingLoop loop(model, SoftmaxCrossEntropy{}, sgd(), Constant{0.5}, Always({0, 1}));
    std::fill_n(loop.values(), loop.layout().size(), 0.0f);
    float* const matrix = loop.values() + loop.layout().place_of(loop.layout().find("out.weight")).offset;
    for (std::size_t i = 0; i < classes; ++i) matrix[i * classes + i] = 1;
    return loop.predict(data);
  };
  CHECK(predictions(SumOfReceived{}) ==
        std::vector<float>{0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 9, 10, 11, 12});
  CHECK(predictions(MeanOfEdges{}) ==
        std::vector<float>{1, 2, 3, 4, 1, 2, 3, 4, 7, 8, 9, 10, 7, 8, 9, 10, 7, 8, 9, 10});
}

TEST_CASE("ragged: a slice of more examples than it shifts at a time") {
  std::vector<std::uint32_t> lengths;
  for (std::uint32_t i = 0; i < 200; ++i) lengths.push_back(i % 4);
  const Sentences data({{"words", lengths}}, {tokens(300, vocabulary, 1), {1}, "words"},
                       {tokens(300, classes, 2), {1}, "words"});
  TrainingLoop loop(Tagger{}, SoftmaxCrossEntropy{}, sgd(), Constant{0.5}, ShuffledEpochs{.batch = 150});
  const auto all = loop.predict(data, 200), part = loop.predict(data.subset(5, 195), 200);
  REQUIRE(all.size() == 300 * classes);
  REQUIRE(part.size() == 285 * classes);
  CHECK(std::equal(part.begin(), part.end(), all.begin() + 6 * classes));
}

TEST_CASE("ragged: workers, threads and memory of other sizes") {
  const WeightedSentences data = weighted_sentences();
  const auto values_after = [&](const auto& loss, std::size_t workers, unsigned threads) {
    TrainingLoop loop(Reader{}, loss, sgd(), Constant{0.1}, Always({0, 1, 2, 3, 4, 7, 9}), Mean{}, InProcess{workers},
                      Host<double>{.threads = threads});
    const std::vector<double> of_steps = losses(loop, data);
    auto values = values_of(loop);
    values.insert(values.end(), of_steps.begin(), of_steps.end());
    return values;
  };
  const auto compare = [&](const auto& loss) {
    const auto one = values_after(loss, 1, 1);
    CHECK(values_after(loss, 1, 3) == one);
    for (const std::size_t workers : {2u, 7u}) {  // two of the seven workers have an example without rows
      const auto many = values_after(loss, workers, 1);
      for (std::size_t i = 0; i < one.size(); ++i) CHECK(std::abs(many[i] - one[i]) < 1e-13);
    }
  };
  compare(SoftmaxCrossEntropy{});
  compare(Weighted{SoftmaxCrossEntropy{}, "importance"});
}

TEST_CASE("ragged: memory that grows changes no bit, and other parts of a step see no difference") {
  const Sentences data = sentences();
  // The examples grow longer: the memory has to grow in nearly every step.
  const auto values_after = [&](const auto& prepare) {
    TrainingLoop loop(Reader{}, SoftmaxCrossEntropy{}, adamw(), Constant{0.01}, ShuffledEpochs{.batch = 3, .seed = 4});
    prepare(loop);
    losses(loop, data, 12);
    return values_of(loop);
  };
  const auto grown = values_after([](auto&) {});
  CHECK(grown == values_after([&](auto& loop) { loop.predict(data, examples); }));
  CHECK(grown == values_after([&](auto& loop) { loop.evaluate(data, ErrorRate{}, examples); }));
}

TEST_CASE("ragged: a run that is resumed has the bits of one that was not, with and without prefetching") {
  const Sentences data = sentences();
  const auto make = [] {
    return TrainingLoop(Reader{}, SoftmaxCrossEntropy{}, adamw(), Constant{0.01}, ShuffledEpochs{.batch = 7});
  };
  auto whole = make();
  whole.run(data, UntilStep{20});
  auto ahead = make();
  ahead.run(prefetched(data), UntilStep{20});
  CHECK(same_values(whole, ahead));
  // Saved within a run, while the next batch is gathered.
  MemoryWriter writer;
  auto saved = make();
  saved.run(prefetched(data), UntilStep{20}, [&](const StepReport& report) {
    if (report.now.t == 9) saved.visit(writer);
  });
  MemoryReader reader{writer.saved};
  auto second = make();
  second.visit(reader);
  CHECK(second.steps() == 9);
  second.run(data, UntilStep{20});
  CHECK(same_values(whole, second));
}

// Replaces words by word 0 at random.
struct DropWords {
  template <class Batch>
  void operator()(const Batch& batch, RandomKey key) const {
    std::int32_t* word = batch.tokens("words");
    for (std::size_t i = 0; i < batch.size(); ++i) {
      RandomStream random(key.fold(i));
      for (std::size_t r = 0; r < batch.rows("words", i); ++r, ++word)
        if (random.below(2) == 0) *word = 0;
    }
  }
};

TEST_CASE("ragged: transforms see the rows of each example") {
  const Sentences data = sentences();
  const auto values_after = [&](const auto& of) {
    TrainingLoop loop(Reader{}, SoftmaxCrossEntropy{}, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 6});
    loop.run(of, UntilStep{8});
    return values_of(loop);
  };
  const auto dropped = values_after(transformed(data, DropWords{}));
  CHECK(dropped != values_after(data));
  CHECK(dropped == values_after(prefetched(transformed(data, DropWords{}))));
}

TEST_CASE("ragged: transforms of whole examples refuse fields with several rows") {
  const auto data = transformed(weighted_sentences(), Mixup{.field = "importance", .labels = "importance"});
  TrainingLoop loop(Reader{}, SoftmaxCrossEntropy{}, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 6});
  CHECK(sentence([&] { loop.step(data); }) ==
        "Mixup: the field 'importance' lies on a ragged axis, expected one row per example");
}

TEST_CASE("ragged: a selector sees the mean of an example's losses") {
  struct Listening : Always {
    using Always::Always;
    std::vector<double>* heard = nullptr;
    void feedback(State&, const Selection&, const std::vector<float>& of_examples) const {
      heard->assign(of_examples.begin(), of_examples.end());
    }
  };
  const InMemory<std::int32_t> rows(all_words(), all_tags(), Shape{1}, classes);
  std::vector<double> of_rows, of_examples;
  Listening all_rows(first_examples(rows.size())), all_examples(first_examples(examples));
  all_rows.heard = &of_rows;
  all_examples.heard = &of_examples;
  TrainingLoop loop(Tagger{}, SoftmaxCrossEntropy{}, sgd(), Constant{0.5}, all_examples);
  TrainingLoop expected(
      Model(Shape{1}, Embedding{.vocabulary = vocabulary, .width = 6}, Relu{}, Dense{.units = classes}),
      SoftmaxCrossEntropy{}, sgd(), Constant{0.5}, all_rows);
  copy_values(loop, expected);
  loop.step(sentences());
  expected.step(rows);
  REQUIRE(of_rows.size() == rows.size());
  REQUIRE(of_examples.size() == examples);
  for (std::size_t e = 0; e < examples; ++e) {
    double mean = 0;
    for (std::size_t r = rows_before(e); r < rows_before(e + 1); ++r)
      mean += of_rows[r] / static_cast<double>(rows_of(e));
    CHECK(of_examples[e] == near(mean, 1e-6));
  }
}

TEST_CASE("ragged: batches without any rows change nothing") {
  const Sentences data = sentences();
  TrainingLoop loop(Reader{}, SoftmaxCrossEntropy{}, sgd(), Constant{0.5}, Always({4, 9}));
  REQUIRE(rows_of(4) + rows_of(9) == 0);
  const auto before = values_of(loop);
  CHECK(*loop.step(data).loss == 0);
  CHECK(values_of(loop) == before);
  CHECK(loop.predict(data.subset(4, 5)).empty());
  CHECK(sentence([&] { loop.evaluate(data.subset(4, 5), ErrorRate{}); }) ==
        "TrainingLoop: the examples of an evaluation have no rows, or their weights are 0");
  // Nor does such a batch after others.
  struct Alternating : Always {
    using Always::Always;
    void select(State& state, Step step, Selection& selection) const {
      Always::select(state, step, selection);
      if (step.t % 2 == 0) selection.indices = {4, 9};
    }
  };
  TrainingLoop alternating(Reader{}, SoftmaxCrossEntropy{}, sgd(), Constant{0.5}, Alternating({0, 1}));
  for (int i = 0; i < 3; ++i) {
    alternating.step(data);
    const auto after = values_of(alternating);
    alternating.step(data);
    CHECK(values_of(alternating) == after);
  }
  // A pooled example without rows has an output, and its gradient reaches the layers after the pooling.
  TrainingLoop pooled(Pooled{}, SoftmaxCrossEntropy{}, sgd(), Constant{0.5}, Always({4, 9}));
  const auto at_first = values_of(pooled);
  CHECK(*pooled.step(labelled()).loss > 0.1);
  CHECK(values_of(pooled) != at_first);
}

// The share of sentences with a wrong tag.
struct SentenceError {
  static constexpr const char* name = "sentence error";
  static constexpr bool decodes = true;
  static constexpr bool lower_is_better = true;
  struct State {
    double sentences = 0, wrong = 0;
  };
  template <class S>
  void add(State& state, const EvaluatedRows<S, std::int32_t>& batch) const {
    for (std::size_t e = 0; e < batch.examples; ++e) {
      bool right = batch.output_rows.count(e) == batch.label_rows.count(e);
      for (std::size_t i = 0; i < batch.output_rows.count(e); ++i) {
        const S* const z = batch.outputs + (batch.output_rows.begin(e) + i) * batch.width;
        right = right && std::max_element(z, z + batch.width) - z == batch.labels[batch.label_rows.begin(e) + i];
      }
      state.sentences += 1;
      state.wrong += right ? 0 : 1;
    }
  }
  double value(const State& state) const { return state.wrong / state.sentences; }
};

TEST_CASE("ragged: a metric of whole examples") {
  const Sentences data = sentences();
  TrainingLoop loop(Reader{}, SoftmaxCrossEntropy{}, adamw(), Constant{0.02}, ShuffledEpochs{.batch = 8});
  loop.run(data, UntilStep{150});
  const auto logits = loop.predict(data, 7);
  const auto tags = all_tags();
  double wrong = 0;
  for (std::size_t e = 0; e < examples; ++e) {
    bool right = true;
    for (std::size_t r = rows_before(e); r < rows_before(e + 1); ++r) {
      const float* const z = logits.data() + r * classes;
      right = right && std::max_element(z, z + classes) - z == tags[r];
    }
    wrong += right ? 0 : 1;
  }
  CHECK(wrong > 1);
  CHECK(wrong < examples - 9);  // of which 8 have no words
  CHECK(loop.evaluate(data, SentenceError{}, 7).metric == wrong / examples);
}

// A loss that reads the tags from a field of another name.
struct OfTags {
  template <class Net>
  constexpr Value operator()(Net& net, Value outputs) const {
    return net(LossOf(SoftmaxCrossEntropy{}), outputs, net.tokens("tags", {1}, outputs.axis));
  }
};
// A loss of the mean of a sentence's outputs.
struct OfMean {
  template <class Net>
  constexpr Value operator()(Net& net, Value outputs) const {
    return net(LossOf(SoftmaxCrossEntropy{}), net(PoolRows{}, outputs), net.tokens("label"));
  }
};

// A loss per part of a sentence, of the mean of its outputs.
struct OfParts {
  template <class Net>
  constexpr Value operator()(Net& net, Value outputs) const {
    const Value labels = net.tokens("part", {1}, net.ragged_axis("parts"));
    const Value mean = net(PoolRows{}, outputs);
    return net(LossOf(SoftmaxCrossEntropy{}), net(RepeatRows{labels.axis}, mean), labels);
  }
};

TEST_CASE("objectives: a loss that records itself") {
  const InMemoryFields<Words, Field<"tags", std::int32_t>> data({{"words", lengths()}}, {all_words(), {1}, "words"},
                                                                {all_tags(), {1}, "words"});
  TrainingLoop loop(Reader{}, OfTags{}, adamw(), Constant{0.02}, ShuffledEpochs{.batch = 8});
  TrainingLoop expected(Reader{}, SoftmaxCrossEntropy{}, adamw(), Constant{0.02}, ShuffledEpochs{.batch = 8});
  CHECK(losses(loop, data) == losses(expected, sentences()));
  CHECK(same_values(loop, expected));
  CHECK(sentence([&] { loop.step(sentences()); }) ==
        "data: the model reads the field 'tags', which the data set does not have; it has 'words', 'label'");

  TrainingLoop of_mean(Tagger{}, OfMean{}, adamw(), Constant{0.02}, ShuffledEpochs{.batch = 8});
  const double before = of_mean.evaluate(labelled(), SentenceError{}).loss;
  of_mean.run(labelled(), UntilStep{100});
  CHECK(of_mean.evaluate(labelled(), SentenceError{}).loss < 0.9 * before);
  CHECK(sentence([&] { of_mean.evaluate(labelled(), ErrorRate{}); }) ==
        "the metric 'error' compares each row of the outputs, on the axis 'words', with a label, but labels have 1 "
        "elements on the axis 'examples'");
  // Predictions need no labels, also if these lie on an axis of their own.
  const InMemoryFields<Words> unlabelled({{"words", lengths()}}, {all_words(), {1}, "words"});
  TrainingLoop of_parts(Tagger{}, OfParts{}, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 8});
  CHECK(of_parts.predict(unlabelled).size() == all_words().size() * classes);
  const InMemoryFields<Words, Field<"part", std::int32_t>> parted(
      {{"words", lengths()}, {"parts", std::vector<std::uint32_t>(examples, 50)}}, {all_words(), {1}, "words"},
      {tokens(50 * examples, classes, 5), {1}, "parts"});
  CHECK(of_parts.predict(parted) == of_parts.predict(unlabelled));
  const double first = *of_parts.step(parted).loss;
  of_parts.run(parted, UntilStep{40});
  CHECK(*of_parts.last().loss < first);
  CHECK(sentence([&] { of_parts.step(unlabelled); }) ==
        "data: the model reads the field 'part', which the data set does not have; it has 'words'");

  const InMemoryFields<Words, Label, Field<"tags", std::int32_t>> both(
      {{"words", lengths()}}, {all_words(), {1}, "words"}, {all_tags(), {1}, "words"}, {all_tags(), {1}, "words"});
  CHECK(sentence([&] { loop.evaluate(both, ErrorRate{}); }) ==
        "the metric 'error' compares the outputs with the field 'label', which the loss does not read");
}

TEST_CASE("ragged: messages along edges, and examples that train to a target") {
  // Graphs whose class is whether their first node has an edge to a node of type 2.
  const Graphs data = graphs(240);
  TrainingLoop loop(GraphModel{}, SoftmaxCrossEntropy{}, adamw(), Constant{0.02}, ShuffledEpochs{.batch = 16});
  const double first = loop.evaluate(data, ErrorRate{}).metric;
  loop.run(data, UntilStep{200});
  CHECK(first > 0.2);
  CHECK(loop.evaluate(data, ErrorRate{}).metric < 0.05);
  TrainingLoop threads(GraphModel{}, SoftmaxCrossEntropy{}, adamw(), Constant{0.02}, ShuffledEpochs{.batch = 16},
                       Host<>{.threads = 3});
  threads.run(data, UntilStep{200});
  CHECK(same_values(loop, threads));
}

// Predicts the label of each row from its place and the example. Predictions need the rows of the labels, but not the
// labels.
struct Places {
  template <class Net>
  constexpr Value operator()(Net& net) const {
    const Value example = net("in", Dense{.units = 4}, net.field("features", {2}));
    const Value rows = net(RepeatRows{net.ragged_axis("words")}, example);
    return net("out", Dense{.units = classes}, net("positions", LearnedPositions{.positions = 5}, rows));
  }
};

TEST_CASE("ragged: rows beyond a limit are refused in predictions, too") {
  const std::vector<std::uint32_t> lengths{2, 6};
  const InMemoryFields<Field<"features", float>, Field<"label", std::int32_t>> data(
      {{"words", lengths}}, {std::vector<float>(4, 1.0f), {2}}, {tokens(8, classes, 1), {1}, "words"});
  TrainingLoop loop(Places{}, SoftmaxCrossEntropy{}, sgd(), Constant{0.5}, Always({0, 1}));
  const char* const expected =
      "data: the field 'label' of example 1 has 6 rows on the axis 'words', expected at most 5 (LearnedPositions's "
      "positions)";
  CHECK(sentence([&] { loop.predict(data); }) == expected);
  CHECK(sentence([&] { loop.step(data); }) == expected);
}

TEST_CASE("ragged: mistakes name the field, the axis and the example") {
  using Word = Field<"words", std::int32_t>;
  using Label = Field<"label", std::int32_t>;
  TrainingLoop loop(Tagger{}, SoftmaxCrossEntropy{}, sgd(), Constant{0.5}, Always({1, 0}));
  const auto step_on = [&](const auto& data) { return refused_step(loop, data); };
  const auto good = tokens(6, classes, 1);
  const std::vector<std::uint32_t> lengths{2, 4};
  CHECK(step_on(Sentences({{"words", lengths}}, {good, {1}, "words"}, {good, {1}, "words"})).empty());
  CHECK(step_on(InMemoryFields<Word, Label>({good, {3}}, {good, {3}})) ==
        "data: the field 'words' has a fixed number of rows, the model reads it on the ragged axis 'words'");
  CHECK(step_on(InMemoryFields<Word, Label>({{"time", lengths}}, {good, {1}, "time"}, {good, {1}, "time"})) ==
        "data: the field 'words' lies on the ragged axis 'time', the model reads it on the ragged axis 'words'");
  TrainingLoop fixed(FixedTagger{3}, SoftmaxCrossEntropy{}, sgd(), Constant{0.5}, Always({1, 0}));
  CHECK(refused_step(fixed, Sentences({{"words", lengths}}, {good, {1}, "words"}, {good, {1}, "words"})) ==
        "data: the field 'words' lies on the ragged axis 'words', the model reads it on the axis 'words'");
  CHECK(step_on(Sentences({{"words", lengths}}, {tokens(12, classes, 1), {2}, "words"}, {good, {1}, "words"})) ==
        "data: the field 'words' has shape {2} with 2 elements per row, the model reads 1");
  auto wrong = good;
  wrong[4] = 5;
  CHECK(step_on(Sentences({{"words", lengths}}, {wrong, {1}, "words"}, {good, {1}, "words"})) ==
        "data: element 2 of the field 'words' of example 1 is 5, expected [0, 5)");
  CHECK(step_on(Sentences({{"words", lengths}}, {good, {1}, "words"}, {wrong, {1}, "words"})) ==
        "data: label 2 of example 1 is 5, expected [0, 4)");

  CHECK(
      sentence([&] {
        Sentences({{"words", {2, 3}}}, {good, {1}, "words"}, {good, {1}, "words"});
      }) ==
      "InMemoryFields: the field 'words' has 6 values, expected 5 rows on the axis 'words' with 1 each, of shape {1}");
  CHECK(sentence([&] {
          Sentences({{"words", lengths}}, {good, {1}, "time"}, {good, {1}, "words"});
        }) == "InMemoryFields: the field 'words' lies on the axis 'time', for which no numbers of rows are given");
  CHECK(sentence([&] {
          Sentences({{"words", lengths}}, {good, {1}, "words"}, {good, {1}});
        }) == "InMemoryFields: the field 'label' has 6 examples, the axis 'words' 2");
  CHECK(sentence([&] {
          Sentences({{"words", lengths}, {"time", {6}}}, {good, {1}, "words"}, {good, {1}, "words"});
        }) == "InMemoryFields: the axis 'time' has 1 examples, the axis 'words' 2");

  CHECK(sentence([&] {
          Sentences({{"words", lengths}, {"words", lengths}}, {good, {1}, "words"}, {good, {1}, "words"});
        }) == "InMemoryFields: two axes have the name 'words'");
  const auto without_field = [](auto& net) {
    return net(RepeatRows{net.ragged_axis("places")}, net(PoolRows{}, Tagger{}(net)));
  };
  TrainingLoop undeclared(without_field, OfMean{}, sgd(), Constant{0.5}, Always({0}));
  CHECK(sentence([&] { undeclared.step(labelled()); }) ==
        "data: the model reads no field on the ragged axis 'places', so the data set cannot give the numbers of its "
        "rows");

  TrainingLoop of_graphs(GraphModel{}, SoftmaxCrossEntropy{}, sgd(), Constant{0.5}, Always({1, 0}));
  CHECK(refused_step(of_graphs, Graphs({{"nodes", {2, 3}}, {"edges", {1, 2}}}, {{0, 1, 2, 1, 0}, {1}, "nodes"},
                                       {{1, 0, 3}, {1}, "edges"}, {{0, 1, 2}, {1}, "edges"}, {{0, 1}, {1}})) ==
        "data: element 1 of the field 'senders' of example 1 is 3, expected [0, 3), the index of a row of the example "
        "on the axis "
        "'nodes'");

  TrainingLoop reader(Reader{}, SoftmaxCrossEntropy{}, sgd(), Constant{0.5}, Always({0}));
  const Sentences too_long({{"words", {30}}}, {tokens(30, vocabulary, 1), {1}, "words"},
                           {tokens(30, classes, 1), {1}, "words"});
  CHECK(refused_step(reader, too_long) ==
        "data: the field 'words' of example 0 has 30 rows on the axis 'words', expected at most 12 (LearnedPositions's "
        "positions)");
}

}  // namespace algoperf::testing::of_ragged
