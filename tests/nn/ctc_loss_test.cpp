// Connectionist temporal classification against torch (tests/golden/make_ctc.py) and against all paths, one by one.
#include <doctest/doctest.h>

#include <algoperf/algoperf.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../golden/ctc.hpp"
#include "../golden/golden_model.hpp"
#include "../support/check_error.hpp"
#include "../support/near.hpp"
#include "../support/refused_step.hpp"
#include "../support/reproducible.hpp"
#include "../support/sentence.hpp"

namespace algoperf::testing::of_ctc {

// The logits are the rows of a table, which the frames of all examples look up one after another.
struct TableOfLogits {
  std::size_t frames, classes;
  template <class Net>
  constexpr Value operator()(Net& net) const {
    const SharedTensor table = net.tensor("logits", Kind::embedding, {frames, classes}, Init::unit_normal);
    return net("look_up", LookUp{.table = table, .vocabulary = frames, .width = classes},
               net.tokens("input", {1}, net.ragged_axis("frames")));
  }
};
using Utterances = InMemoryFields<Field<"input", std::int32_t>, Field<"label", std::int32_t>, Field<"length", float>>;

Utterances utterances(const std::vector<std::uint32_t>& frames, const std::vector<std::uint32_t>& lengths,
                      const std::vector<std::int32_t>& labels) {
  std::vector<std::int32_t> inputs;
  for (const std::uint32_t n : frames)
    for (std::uint32_t t = 0; t < n; ++t) inputs.push_back(static_cast<std::int32_t>(inputs.size()));
  return Utterances({{"frames", frames}, {"symbols", lengths}}, {inputs, {1}, "frames"}, {labels, {1}, "symbols"},
                    {std::vector<float>(lengths.begin(), lengths.end()), {1}});
}

struct Step {
  double loss;
  std::vector<double> gradient;
};
// Takes one step, with logits by the formula of make_ctc.py. Returns the loss and its gradient.
template <class B>
Step step_of(const golden::CtcCase& of, const CtcLoss& loss, const B& backend) {
  const Utterances data = utterances(of.frames, of.lengths, of.labels);
  const std::size_t rows = of.gradient.size() / golden::ctc_classes;
  TrainingLoop loop(TableOfLogits{rows, golden::ctc_classes}, loss, sgd(), Constant{1.0},
                    ShuffledEpochs{.batch = of.frames.size()}, backend);
  const auto values = loop.values("logits");
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<typename B::Scalar>(2 * std::sin(0.3 + 0.7 * static_cast<double>(i)));
  Step step;
  for (const auto x : values) step.gradient.push_back(static_cast<double>(x));
  step.loss = *loop.step(data).loss;
  for (std::size_t i = 0; i < values.size(); ++i) step.gradient[i] -= static_cast<double>(values[i]);
  return step;
}

TEST_CASE_TEMPLATE("ctc: losses and gradients are torch's", B, Host<double>, Host<float>) {
  const double tolerance = std::is_same_v<typename B::Scalar, double> ? 1e-13 : 1e-5;
  for (const golden::CtcCase& of : golden::ctc) {
    INFO("blank ", of.blank);
    for (const bool by_length : {false, true}) {
      const CtcLoss loss{.blank = of.blank, .max_labels = 5, .weight_field = by_length ? "length" : nullptr};
      const Step found = step_of(of, loss, B{});
      // The loss of each example has weight 1 / (labels examples) or, by length, 1 / all labels.
      double all = 0, expected = 0;
      for (const std::uint32_t n : of.lengths) all += static_cast<double>(n);
      std::size_t row = 0;
      for (std::size_t e = 0; e < of.frames.size(); ++e) {
        const double length = static_cast<double>(of.lengths[e]);
        const double weight =
            by_length ? (length > 0 ? 1 / all : 0) : 1 / std::fmax(length, 1) / static_cast<double>(of.frames.size());
        expected += weight * of.losses[e];
        for (std::size_t k = 0; k < of.frames[e] * golden::ctc_classes; ++k, ++row)
          CHECK(std::abs(found.gradient[row] - weight * of.gradient[row]) < tolerance);
      }
      CHECK(std::abs(found.loss - expected) < 10 * tolerance);
    }
  }
}

// Returns the symbols that a path spells.
std::vector<int> spelled(const std::vector<int>& path, int blank) {
  std::vector<int> symbols;
  for (std::size_t t = 0; t < path.size(); ++t)
    if (path[t] != blank && (t == 0 || path[t] != path[t - 1])) symbols.push_back(path[t]);
  return symbols;
}

TEST_CASE("ctc: the loss is that of all paths which spell the labels") {
  constexpr std::size_t classes = 3, frames = 5;
  const std::vector<std::vector<std::int32_t>> spellings{{},        {1},       {2, 2},         {1, 2},
                                                         {1, 2, 1}, {1, 1, 2}, {2, 1, 2, 1, 2}};
  for (const auto& labels : spellings) {
    const auto length = static_cast<std::uint32_t>(labels.size());
    TrainingLoop loop(TableOfLogits{frames, classes}, CtcLoss{}, sgd(), Constant{0.0}, ShuffledEpochs{.batch = 1},
                      Host<double>{});
    const auto z = loop.values("logits");
    double likelihood = 0;
    for (int code = 0; code < 243; ++code) {
      std::vector<int> path;
      double probability = 1;
      for (std::size_t t = 0, rest = static_cast<std::size_t>(code); t < frames; ++t, rest /= classes) {
        double total = 0;
        for (std::size_t c = 0; c < classes; ++c) total += std::exp(z[t * classes + c]);
        path.push_back(static_cast<int>(rest % classes));
        probability *= std::exp(z[t * classes + rest % classes]) / total;
      }
      if (spelled(path, 0) == std::vector<int>(labels.begin(), labels.end())) likelihood += probability;
    }
    const double expected = -std::log(likelihood) / std::fmax(1, static_cast<double>(length));
    CHECK(*loop.step(utterances({frames}, {length}, labels)).loss == near(expected, 1e-12));
  }
}

// A recurrent speller of random inputs.
struct Speller {
  template <class Net>
  constexpr Value operator()(Net& net) const {
    const Value x = net.field("input", {3}, net.ragged_axis("frames"));
    return net("symbols", Dense{.units = 5}, net("lstm", Lstm{.units = 6}, x));
  }
};
using Recordings = InMemoryFields<Field<"input", float>, Field<"label", std::int32_t>>;
Recordings recordings(std::size_t count) {
  RandomStream random(RandomKey{5});
  std::vector<std::uint32_t> frames, lengths;
  std::vector<float> inputs;
  std::vector<std::int32_t> labels;
  for (std::size_t e = 0; e < count; ++e) {
    lengths.push_back(random.below(5));
    frames.push_back(2 * lengths.back() + 1 + random.below(6));
    for (std::uint32_t i = 0; i < 3 * frames.back(); ++i) inputs.push_back(random.uniform());
    for (std::uint32_t i = 0; i < lengths.back(); ++i) labels.push_back(1 + static_cast<std::int32_t>(random.below(4)));
  }
  return Recordings({{"frames", frames}, {"symbols", lengths}}, {inputs, {3}, "frames"}, {labels, {1}, "symbols"});
}

TEST_CASE("ctc: training is deterministic, resumes, and agrees for four workers") {
  const auto learner = [](const auto&... tail) {
    return TrainingLoop(Speller{}, CtcLoss{.max_labels = 4}, adamw(), Constant{1e-2}, ShuffledEpochs{.batch = 12},
                        tail...);
  };
  check_reproducible(learner, recordings(40), 9);
  check_workers(learner, recordings(40), 3);
}

TEST_CASE("ctc: a long, certain example does not underflow") {
  const std::uint32_t frames = 3000, length = 60;
  std::vector<std::int32_t> labels(length, 1);
  for (std::uint32_t i = 0; i < length; i += 2) labels[i] = 2;
  TrainingLoop loop(TableOfLogits{frames, 3}, CtcLoss{.max_labels = length}, sgd(), Constant{1.0},
                    ShuffledEpochs{.batch = 1});
  CHECK(std::isfinite(*loop.step(utterances({frames}, {length}, labels)).loss));
  for (const float x : loop.values("logits")) CHECK(std::isfinite(x));
}

TEST_CASE("ctc: a logit that is not a number makes the loss one") {
  const Utterances data = utterances({6}, {2}, {1, 2});
  for (const std::size_t place : {0u, 7u, 17u}) {
    TrainingLoop loop(TableOfLogits{6, 3}, CtcLoss{}, sgd(), Constant{1.0}, ShuffledEpochs{.batch = 1});
    loop.values("logits")[place] = NAN;
    CHECK(std::isnan(loop.evaluate(data, WordErrorRate{}).loss));
  }
}

// The labels of an example lie on a ragged axis, and its frames on a fixed one or on another ragged one. Some labels
// that are drawn are the blank, which data may not have; the gradient agrees nevertheless.
TEST_CASE("ctc: gradients agree with differences, also of examples without labels") {
  const auto model = [](auto& net) {
    const Value logits = net("out", Dense{.units = 9}, net.field("x", {3}, net.axis("frames", 7)));
    return CtcLoss{}(net, logits);
  };
  const auto ragged = [](auto& net) {  // with frames for few labels
    const Value logits = net("out", Dense{.units = 9}, net.field("x", {3}, net.ragged_axis("frames")));
    return CtcLoss{.max_labels = 4}(net, logits);
  };
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
    check_error(gradient_check(model, {.batch = 4, .rows = 3, .samples = 0, .seed = seed}));
    check_error(gradient_check(ragged, {.batch = 4, .rows = 9, .samples = 0, .seed = seed}));
  }
}

TEST_CASE("ctc: errors name the field, the example and the option, and change nothing") {
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  const auto step_error = [](const CtcLoss& loss, const Utterances& data, std::size_t frames) {
    std::string of_step;
    const std::string of_loop = sentence([&] {
      TrainingLoop loop(TableOfLogits{frames, 4}, loss, sgd(), Constant{1.0}, golden::WholeBatch{data.size()});
      of_step = refused_step(loop, data);
    });
    return of_loop + of_step;
  };
  const auto two = utterances({3, 4}, {1, 3}, {2, 1, 1, 3});
  CHECK(step_error({}, two, 7).empty());
  CHECK(step_error({.max_labels = 2}, two, 7) ==
        "data: the field 'label' of example 1 has 3 rows on the axis 'symbols', expected at most 2 (CtcLoss's "
        "max_labels)");
  CHECK(step_error({.blank = 3}, two, 7) == "data: label 2 of example 1 is 3, the blank, expected another class");
  CHECK(has(step_error({.blank = 4}, two, 7), "blank is 4, expected one of the 4 classes"));
  CHECK(has(step_error({.max_labels = 0}, two, 7), "max_labels is 0, expected 1 to 2^24 - 1"));
  CHECK(step_error({}, utterances({3, 3}, {1, 3}, {2, 1, 1, 3}), 6) ==
        "data: the field 'label' of example 1 has 3 labels, 1 of them equal to the one before, and 3 rows on the axis "
        "'frames', expected at least 4 rows");
}

// The example is that of the data set, not the place in the batch.
TEST_CASE("ctc: errors name the example of the data set") {
  const auto data = utterances({3, 3, 1, 3}, {1, 1, 2, 1}, {2, 1, 3, 3, 1});
  TrainingLoop loop(TableOfLogits{10, 4}, CtcLoss{}, sgd(), Constant{1.0}, ShuffledEpochs{.batch = 1});
  const char* const expected =
      "data: the field 'label' of example 2 has 2 labels, 1 of them equal to the one before, and 1 row on the axis "
      "'frames', expected at least 3 rows";
  CHECK(sentence([&] {
          for (int step = 0; step < 4; ++step) loop.step(data);
        }) == expected);
  CHECK(sentence([&] { loop.evaluate(data, WordErrorRate{}); }) == expected);
  CHECK(sentence([&] { loop.predict(data); }).empty());  // which needs no labels
}

}  // namespace algoperf::testing::of_ctc
