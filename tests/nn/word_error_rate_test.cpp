#include "algoperf/nn/metrics/word_error_rate.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>

#include "../golden/wer.hpp"
#include "algoperf/algoperf.hpp"

using namespace algoperf;

namespace {

// Class 0 is the blank, 1 the space, and 2 to 27 are letters.
constexpr std::size_t letters = 28;
std::vector<std::int32_t> symbols_of(const std::string& text) {
  std::vector<std::int32_t> symbols;
  for (const char c : text) symbols.push_back(c == ' ' ? 1 : c - 'a' + 2);
  return symbols;
}
// Frames that spell a text greedily: each symbol takes one to three frames, and a blank follows.
struct Spelled {
  std::vector<double> outputs;
  std::vector<std::uint32_t> frames = {0}, lengths = {0};
  std::vector<std::int32_t> labels;

  void frame(std::int32_t symbol) {
    const std::size_t at = outputs.size();
    for (std::size_t c = 0; c < letters; ++c) outputs.push_back(std::sin(static_cast<double>(at + c)));
    outputs[at + static_cast<std::size_t>(symbol)] = 2;
  }
  void add(const std::string& found, const std::string& reference) {
    std::uint32_t n = 1;
    frame(0);
    for (const std::int32_t symbol : symbols_of(found)) {
      for (std::uint32_t i = 0; i <= n % 3; ++i) frame(symbol);
      frame(0);
      n += n % 3 + 2;
    }
    frames.push_back(static_cast<std::uint32_t>(outputs.size() / letters));
    for (const std::int32_t symbol : symbols_of(reference)) labels.push_back(symbol);
    lengths.push_back(static_cast<std::uint32_t>(labels.size()));
  }
  EvaluatedRows<double, std::int32_t> rows() const {
    return {frames.back(), letters,           outputs.data(),     labels.data(),
            nullptr,       frames.size() - 1, {1, frames.data()}, {1, lengths.data()}};
  }
};
double rate_of(const WordErrorRate& metric, const Spelled& spelled) {
  WordErrorRate::State state;
  metric.add(state, spelled.rows());
  return metric.value(state);
}

}  // namespace

TEST_CASE("word error rate: agrees with jiwer") {
  const WordErrorRate metric{.separator = 1};
  Spelled all;
  for (const golden::WerCase& of : golden::wer) {
    INFO(std::string(of.reference));
    Spelled one;
    one.add(of.found, of.reference);
    all.add(of.found, of.reference);
    CHECK(std::abs(rate_of(metric, one) - of.rate) < 1e-15);
  }
  CHECK(std::abs(rate_of(metric, all) - golden::wer_of_all) < 1e-15);
}

TEST_CASE("word error rate: symbols as words, neighbours, and errors") {
  Spelled spelled;
  spelled.add("feet", "fee");  // the blank between the two e keeps both
  CHECK(rate_of({}, spelled) == 1.0 / 3);
  CHECK(rate_of({.separator = 1}, spelled) == 1);
  Spelled spaced;
  spaced.add(" a  b ", "a b");
  CHECK(rate_of({.separator = 1}, spaced) == 0);
  Spelled merged;
  for (const std::int32_t symbol : {2, 2, 3, 3, 3, 0, 3}) merged.frame(symbol);
  merged.frames.push_back(7);
  merged.labels = {2, 3, 3};
  merged.lengths.push_back(3);
  CHECK(rate_of({}, merged) == 0);
  Spelled silent;
  silent.add("a", "");
  CHECK_THROWS_WITH(rate_of({}, silent), "WordErrorRate: the labels have no words");
  CHECK_THROWS_WITH(rate_of({.separator = 0}, spelled),
                    "WordErrorRate: separator is 0, expected one of the 28 classes other than the blank, 0");
  CHECK_THROWS_WITH(rate_of({.blank = 28}, spelled), "WordErrorRate: blank is 28, expected one of the 28 classes");
}

// Two symbols, each shown by its own input element for two frames.
struct FrameByFrame {
  template <class Net>
  constexpr Value operator()(Net& net) const {
    return net("symbols", Dense{.units = 3}, net.field("input", {3}, net.ragged_axis("frames")));
  }
};

TEST_CASE("word error rate: a model trained by CtcLoss learns to spell") {
  RandomStream random(RandomKey{2});
  std::vector<std::uint32_t> frames, lengths;
  std::vector<float> inputs;
  std::vector<std::int32_t> labels;
  for (int e = 0; e < 64; ++e) {
    lengths.push_back(1 + random.below(5));
    frames.push_back(3 * lengths.back());
    for (std::uint32_t i = 0; i < lengths.back(); ++i) {
      labels.push_back(1 + static_cast<std::int32_t>(random.below(2)));
      const float first = labels.back() == 1 ? 1.0f : 0.0f;
      for (int k = 0; k < 2; ++k) inputs.insert(inputs.end(), {first, 1 - first, 0});
      inputs.insert(inputs.end(), {0, 0, 1});
    }
  }
  const InMemoryFields<Field<"input", float>, Field<"label", std::int32_t>> data(
      {{"frames", frames}, {"symbols", lengths}}, {inputs, {3}, "frames"}, {labels, {1}, "symbols"});
  TrainingLoop loop(FrameByFrame{}, CtcLoss{.max_labels = 5}, adam(), Constant{0.05}, ShuffledEpochs{.batch = 16});
  CHECK(loop.evaluate(data, WordErrorRate{}).metric > 0.3);
  const auto end = loop.run(data, Evaluate(data, WordErrorRate{}, {.every = 50}), UntilStep{200});
  CHECK(end.best.metric == 0);
}
