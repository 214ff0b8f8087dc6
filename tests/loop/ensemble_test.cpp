// Ensembles of trained networks by the sum rule.
#include <doctest/doctest.h>

#include <algoperf/algoperf.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../support/near.hpp"
#include "../support/sentence.hpp"

namespace algoperf::testing::of_ensemble {

using Rows = std::vector<std::vector<double>>;

TEST_CASE("sum rule: the softmax of the result is the mean of the softmax of the networks") {
  const Rows outputs{{1, 2, 0.5, -3, 0, 4}, {0, -1, 2, 1, 1, 1}, {1000, 0, 0, -1000, 0, 0}};
  const std::vector<double> combined = sum_rule<double>(outputs, 3);
  for (std::size_t row = 0; row < 6; row += 3) {
    std::vector<double> mean(3);
    for (const auto& of : outputs) {
      double top = of[row], total = 0;
      for (std::size_t c = 0; c < 3; ++c) top = std::max(top, of[row + c]);
      for (std::size_t c = 0; c < 3; ++c) total += std::exp(of[row + c] - top);
      for (std::size_t c = 0; c < 3; ++c) mean[c] += std::exp(of[row + c] - top) / total / 3;
    }
    for (std::size_t c = 0; c < 3; ++c) CHECK(std::exp(combined[row + c]) == near(mean[c], 1e-14));
  }
}

TEST_CASE("sum rule: rows of one logit are those of sigmoids, and nothing overflows") {
  const Rows outputs{{2, -800, 800}, {-1, -900, -800}};
  const std::vector<double> combined = sum_rule<double>(outputs, 1);
  const auto sigmoid = [](double z) { return 1 / (1 + std::exp(-z)); };
  CHECK(sigmoid(combined[0]) == near((sigmoid(2) + sigmoid(-1)) / 2, 1e-14));
  CHECK(combined[1] == near(-800 - std::log(2.0), 1e-12));
  CHECK(std::abs(combined[2]) < 1e-12);
  CHECK(sum_rule<double>(Rows{{-5, 3}}, 1) == std::vector<double>{-5, 3});
}

TEST_CASE("sum rule: mistakes") {
  CHECK(sentence([] { sum_rule<double>(Rows{}, 2); }) ==
        "sum_rule: there are no outputs, expected those of at least one network");
  CHECK(sentence([] {
          sum_rule<double>(Rows{{1, 2, 3}}, 2);
        }) == "sum_rule: there are 3 outputs and width is 2, expected a positive width that divides them");
  CHECK(sentence([] { sum_rule<double>(Rows{{1}}, 0); }) ==
        "sum_rule: there are 1 outputs and width is 0, expected a positive width that divides them");
  CHECK(sentence([] {
          sum_rule<double>(Rows{{1, 2}, {1, 2, 3, 4}}, 2);
        }) == "sum_rule: network 1 has 4 outputs, network 0 has 2, expected the same");
}

constexpr Model small = mlp(Shape{28, 28, 1}, {16}, 10);
constexpr Model smaller = mlp(Shape{28, 28, 1}, {12}, 10);

template <class ModelType>
void train(const ModelType& model, Predictor<ModelType>& to, std::uint64_t seed, const InMemory<float>& data) {
  TrainingLoop loop(model, SoftmaxCrossEntropy{}, adamw(), Constant{5e-3}, ShuffledEpochs{.batch = 50, .seed = seed});
  loop.run(data, UntilStep{80});
  std::copy(loop.values(), loop.values() + loop.layout().size(), to.values());
}

TEST_CASE("ensemble: of different networks, has fewer errors than each of them") {
  const InMemory<float> data = Glyphs{.seed = 1, .count = 1000}.render(),
                        test = Glyphs{.seed = 2, .count = 500}.render();
  Predictor first(small), second(small);
  Predictor third(smaller);
  train(small, first, 1, data);
  train(small, second, 2, data);
  train(smaller, third, 3, data);
  Ensemble ensemble(first, second, third);
  const double error = ensemble.evaluate(test, ErrorRate{});
  for (auto* const member : {&first, &second}) CHECK(error < Ensemble(*member).evaluate(test, ErrorRate{}));
  CHECK(error < Ensemble(third).evaluate(test, ErrorRate{}));
  CHECK(ensemble.evaluate(test, CrossEntropy{}) < Ensemble(first).evaluate(test, CrossEntropy{}));
  CHECK(ensemble.predict(test) ==
        sum_rule<float>(std::vector{first.predict(test), second.predict(test), third.predict(test)}, 10));
  // Of one member, it is that member.
  const std::vector<float> logits = first.predict(test);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < 500; ++i) {
    const auto row = logits.begin() + static_cast<std::ptrdiff_t>(10 * i);
    wrong += std::max_element(row, row + 10) - row != test.labels()[i];
  }
  CHECK(Ensemble(first).evaluate(test, ErrorRate{}) == near(static_cast<double>(wrong) / 500, 1e-12));
}

TEST_CASE("ensemble: fields, and a metric that accumulates") {
  const std::vector<float> x{-2, -1, 0.5f, 3};
  const InMemoryFields<Field<"input", float>, Field<"label", std::int32_t>> data({x, {1}}, {{0, 0, 1, 1}, {1}});
  constexpr Model model(Shape{1}, Dense{.units = 1});
  Predictor rising(model), falling(model);
  rising.values()[0] = 2;
  falling.values()[0] = -1;
  rising.values()[1] = falling.values()[1] = 0;
  CHECK(Ensemble(rising).evaluate(data, AreaUnderRoc{}) == 1);
  CHECK(Ensemble(falling).evaluate(data, AreaUnderRoc{}) == 0);
  CHECK(Ensemble(rising).evaluate(data, MeanAveragePrecision{}) == 1);
  CHECK(Ensemble(rising, falling).evaluate(data, ErrorRate{}) == 0);  // the steeper one decides
}

TEST_CASE("ensemble: mistakes") {
  Predictor ten(small);
  Predictor three(mlp(Shape{28, 28, 1}, {12}, 3));
  const InMemoryFields<Field<"input", float>, Field<"label", std::int32_t>> data({{1, 2}, {1}}, {{0, 2}, {1}});
  constexpr Model line(Shape{1}, Dense{.units = 1});
  Predictor one(line);
  one.values()[0] = one.values()[1] = 1;
  CHECK(sentence([&] { Ensemble(one).evaluate(data, CrossEntropy{}); }) == "Ensemble: label 1 is 2, expected [0, 2)");
  CHECK(sentence([&] { Ensemble(ten, three); }) ==
        "Ensemble: predictor 1 has 3 outputs per row, expected 10 as predictor 0");
}

}  // namespace algoperf::testing::of_ensemble
