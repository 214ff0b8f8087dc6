// Metrics in evaluations: accumulators, and values that are computed from a mean.
#include <doctest/doctest.h>

#include <algoperf/nn/metrics/area_under_roc.hpp>
#include <algoperf/nn/metrics/perplexity.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "../support/near.hpp"
#include "tagger.hpp"
#include "tiny.hpp"

namespace algoperf::testing::of_metrics {

using namespace tagging;

double area(const std::vector<double>& outputs, std::size_t width, const std::vector<std::int32_t>& labels,
            const std::vector<double>& weights = {}) {
  AreaUnderRoc::State state;
  AreaUnderRoc{}.add(state, EvaluatedRows<double, std::int32_t>{labels.size(), width, outputs.data(), labels.data(),
                                                                weights.empty() ? nullptr : weights.data()});
  return AreaUnderRoc{}.value(state);
}

TEST_CASE("AUC: the share of pairs of a positive and a negative row in the right order") {
  CHECK(area({1, 2, 3, 4}, 1, {0, 0, 1, 1}) == 1);
  CHECK(area({4, 3, 2, 1}, 1, {0, 0, 1, 1}) == 0);
  CHECK(area({5, 5, 5, 5, 5}, 1, {0, 1, 0, 1, 1}) == 0.5);
  CHECK(area({0.1, 0.4, 0.35, 0.8}, 1, {0, 0, 1, 1}) == 0.75);  // the example of sklearn's roc_auc_score
  // Two outputs: the second minus the first.
  CHECK(area({0, 1, 1, 3, 2, 2, 0, 4}, 2, {0, 0, 1, 1}) == 0.5);
  // Against all pairs, with ties and weights.
  const std::size_t n = 200;
  std::vector<double> outputs, weights;
  std::vector<std::int32_t> labels;
  RandomStream random(RandomKey{5});
  for (std::size_t i = 0; i < n; ++i) {
    outputs.push_back(random.below(20));
    labels.push_back(static_cast<std::int32_t>(random.below(2)));
    weights.push_back(random.below(4));
  }
  double right = 0, all = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      if (labels[i] != 1 || labels[j] != 0) continue;
      const double pair = weights[i] * weights[j];
      all += pair;
      right += outputs[i] > outputs[j] ? pair : outputs[i] == outputs[j] ? pair / 2 : 0;
    }
  CHECK(area(outputs, 1, labels, weights) == near(right / all, 1e-12));
  // The same bits in any order of the rows.
  for (double& weight : weights) weight = 1.0 / (3 + random.below(50));
  const double forwards = area(outputs, 1, labels, weights);
  std::reverse(outputs.begin(), outputs.end());
  std::reverse(labels.begin(), labels.end());
  std::reverse(weights.begin(), weights.end());
  CHECK(area(outputs, 1, labels, weights) == forwards);
}

TEST_CASE("AUC: what has none") {
  CHECK(sentence([] {
          area({1, 2}, 1, {1, 1});
        }) == "AreaUnderRoc: the rows of class 0 have a weight of 0 in all, expected rows of both classes");
  CHECK(sentence([] {
          area({1, 2}, 1, {0, 1}, {1, 0});
        }) == "AreaUnderRoc: the rows of class 1 have a weight of 0 in all, expected rows of both classes");
  CHECK(sentence([] {
          area({1, 2, 3}, 3, {0});
        }) == "AreaUnderRoc: the model has 3 outputs, expected 1 or 2: it measures binary classifiers");
  CHECK(std::isnan(area({1, std::numeric_limits<double>::quiet_NaN()}, 1, {0, 1})));  // the model has diverged
  CHECK(std::isnan(area({1, 2}, 1, {0, 1}, {1, std::numeric_limits<double>::quiet_NaN()})));
}

TEST_CASE("metrics: AUC of a binary classifier, for any size of the batches") {
  std::vector<float> inputs = numbers(300 * 2, 4);
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < 300; ++i) labels.push_back(inputs[2 * i] > 0.1f ? 1 : 0);
  const InMemory<float> data(inputs, labels, Shape{2}, 2);
  TrainingLoop loop(Model(Shape{2}, Dense{.units = 1}), SigmoidCrossEntropy{}, sgd(), Constant{0.5},
                    ShuffledEpochs{.batch = 32});
  for (int i = 0; i < 40; ++i) loop.step(data);
  const auto logits = loop.predict(data);
  const double expected = area({logits.begin(), logits.end()}, 1, labels);
  CHECK(expected > 0.8);
  CHECK(expected < 1);
  for (const std::size_t batch : {std::size_t{0}, std::size_t{7}, std::size_t{300}, std::size_t{1000}})
    CHECK(loop.evaluate(data, AreaUnderRoc{}, batch).metric == expected);
  CHECK(loop.evaluate(data, AreaUnderRoc{}).loss == loop.evaluate(data, CrossEntropy{}).loss);
  CHECK(!loop.evaluate(data, AreaUnderRoc{}).lower_is_better);
  // An observer evaluates with it, and a target of it ends a run.
  const RunReport report =
      loop.run(data, Evaluate(data, AreaUnderRoc{}, {.every = 5}), UntilTarget{{0.9, false}}, UntilStep{4000});
  CHECK(report.reason == Control::target_reached);
  CHECK(report.best.metric >= 0.9);
}

TEST_CASE("metrics: an accumulator sees the labels and weights of every row") {
  std::vector<float> weights = numbers(examples * length, 9);
  for (float& w : weights) w = w < 0 ? 0.0f : w;
  const Sentences data = sentences(weights);
  TrainingLoop loop(Tagger{}, Weighted{SoftmaxCrossEntropy{}}, sgd(), Constant{0.5}, ShuffledEpochs{.batch = 8});
  for (int i = 0; i < 10; ++i) loop.step(data);
  const auto logits = loop.predict(data);
  const auto labels = tokens(examples * length, tags, 2);
  BalancedError::State state;
  BalancedError{}.add(
      state, EvaluatedRows<float, std::int32_t>{labels.size(), tags, logits.data(), labels.data(), weights.data()});
  const double expected = BalancedError{}.value(state);
  CHECK(expected > 0.1);
  CHECK(loop.evaluate(data, BalancedError{}).metric == near(expected, 1e-12));
  CHECK(loop.evaluate(data, BalancedError{}, 3).metric == near(expected, 1e-12));
  // Without weights it differs.
  state = {};
  BalancedError{}.add(state, EvaluatedRows<float, std::int32_t>{labels.size(), tags, logits.data(), labels.data()});
  CHECK(std::abs(BalancedError{}.value(state) - expected) > 1e-3);
}

// The largest difference of an output and its label.
struct LargestDifference {
  static constexpr const char* name = "largest difference";
  static constexpr bool lower_is_better = true;
  struct State {
    double largest = 0;
  };
  template <class S>
  void add(State& state, const EvaluatedRows<S, S>& rows) const {
    for (std::size_t i = 0; i < rows.rows * rows.width; ++i)
      state.largest = std::max(state.largest, std::abs(static_cast<double>(rows.outputs[i] - rows.labels[i])));
  }
  double value(const State& state) const { return state.largest; }
};

TEST_CASE("metrics: an accumulator of real-valued labels") {
  const std::vector<float> inputs = numbers(50 * 3, 1), labels = numbers(50 * 2, 2);
  const InMemoryRegression<float> data(inputs, labels, Shape{3}, Shape{2});
  TrainingLoop loop(Model(Shape{3}, Dense{.units = 2}), MeanSquaredError{}, sgd(), Constant{0.1},
                    ShuffledEpochs{.batch = 10}, Host<double>{});
  const auto outputs = loop.predict(data);
  double largest = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    largest = std::max(largest, std::abs(outputs[i] - static_cast<double>(labels[i])));
  CHECK(loop.evaluate(data, LargestDifference{}, 7).metric == near(largest, 1e-12));
}

TEST_CASE("metrics: perplexity is the exponential of the mean over all rows") {
  TrainingLoop loop(Tagger{}, SoftmaxCrossEntropy{}, sgd(), Constant{0.5}, ShuffledEpochs{.batch = 8});
  const double nats = loop.evaluate(sentences(), CrossEntropy{}).metric;
  CHECK(loop.evaluate(sentences(), Perplexity{}).metric == near(std::exp(nats), 1e-14));
  CHECK(loop.evaluate(sentences(), Perplexity{}, 3).metric == near(std::exp(nats), 1e-6));
}

}  // namespace algoperf::testing::of_metrics
