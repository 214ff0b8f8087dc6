// Real-valued labels: MeanSquaredError, BinaryCrossEntropy and InMemoryRegression, in the loop and alone; and binary
// classification with one logit.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "../support/near.hpp"
#include "tiny.hpp"

using namespace algoperf;
using namespace algoperf::testing;

namespace {

// y = (2 a - b + 0.5, a + 3 b), without noise.
InMemoryRegression<float> plane(std::size_t n) {
  std::vector<float> inputs, labels;
  RandomStream random(RandomKey{5});
  for (std::size_t i = 0; i < n; ++i) {
    const auto a = static_cast<float>(random.normal()), b = static_cast<float>(random.normal());
    inputs.insert(inputs.end(), {a, b});
    labels.insert(labels.end(), {2 * a - b + 0.5f, a + 3 * b});
  }
  return {inputs, labels, Shape{2}, Shape{2}};
}

template <class... Tail>
void finds_the_plane(const Tail&... tail) {
  const auto data = plane(240);
  TrainingLoop loop(Model(Shape{2}, Dense{.units = 2}), MeanSquaredError{}, sgd(), Constant{0.1},
                    ShuffledEpochs{.batch = 20}, tail...);
  const auto end = loop.run(data.subset(0, 200), Evaluate(data.subset(200, 240), MeanSquaredError{}, {.every = 100}),
                            UntilStep{400});
  CHECK(end.best.metric < 1e-8);
  const auto weight = loop.values("0.weight"), bias = loop.values("0.bias");
  const double expected[] = {2, -1, 1, 3};
  for (std::size_t i = 0; i < 4; ++i) CHECK(static_cast<double>(weight[i]) == near(expected[i], 1e-3));
  CHECK(static_cast<double>(bias[0]) == near(0.5, 1e-3));
  const std::vector<float> inputs{1, 1};
  const Slice unlabelled(Unlabelled<float>(inputs, Shape{2}), 0, 1);
  const auto predicted = loop.predict(unlabelled);
  CHECK(static_cast<double>(predicted[1]) == near(4, 1e-3));
}

}  // namespace

TEST_CASE("mean squared error: values computed by hand, and gradients by central differences") {
  const Host<double> host;
  const double z[] = {1, 2, 3, -1, 0, 4}, y[] = {1, 0, 0, -2, 0, 1}, weights[] = {1, 3};
  double losses[2], d[6];
  MeanSquaredError{}.write(host, 2, 3, z, y, weights, losses, d);
  CHECK(losses[0] == near(13.0 / 3));
  CHECK(losses[1] == near(10.0 / 3));
  const double expected[] = {0, 2.0 / 3, 1, 1, 0, 3};
  for (int i = 0; i < 6; ++i) CHECK(d[i] == near(expected[i]));
  const Model model(Shape{3}, Dense{.units = 4}, Tanh{}, Dense{.units = 2});
  CHECK(gradient_check(model, MeanSquaredError{}, {.weights = {1, 0.5, 2}}).error < 1e-6);
}

TEST_CASE("mean absolute error: values computed by hand, and gradients by central differences") {
  const Host<double> host;
  const double z[] = {1, 2, 3, -1, 0, -4}, y[] = {1, 0, 0, -2, 0, 1}, weights[] = {1, 3};
  double losses[2], d[6];
  MeanAbsoluteError{}.write(host, 2, 3, z, y, weights, losses, d);
  CHECK(losses[0] == near(5.0 / 3));
  CHECK(losses[1] == near(6.0 / 3));
  const double expected[] = {0, 1.0 / 6, 1.0 / 6, 0.5, 0, -0.5};
  for (int i = 0; i < 6; ++i) CHECK(d[i] == near(expected[i]));
  const Model model(Shape{3}, Dense{.units = 4}, Tanh{}, Dense{.units = 2});
  CHECK(gradient_check(model, MeanAbsoluteError{}, {.weights = {1, 0.5, 2}}).error < 1e-6);
}

TEST_CASE("several binary labels per example") {
  std::vector<float> inputs, labels;
  RandomStream random(RandomKey{5});
  for (std::size_t i = 0; i < 240; ++i) {
    const auto a = static_cast<float>(random.normal()), b = static_cast<float>(random.normal());
    inputs.insert(inputs.end(), {a, b});
    labels.insert(labels.end(), {a > b ? 1.0f : 0.0f, a + b > 0 ? 1.0f : 0.0f, b > 1 ? 1.0f : 0.0f});
  }
  const InMemoryRegression<float> data(inputs, labels, Shape{2}, Shape{3});
  TrainingLoop loop(Model(Shape{2}, Dense{.units = 3}), BinaryCrossEntropy{}, adamw(), Constant{0.05},
                    ShuffledEpochs{.batch = 20});
  const double before = loop.evaluate(data, BinaryCrossEntropy{}).loss;
  const auto end = loop.run(data.subset(0, 200), Evaluate(data.subset(200, 240), BinaryCrossEntropy{}), UntilStep{600});
  CHECK(end.best.metric < 0.2 * before);
  CHECK(end.best.metric == near(end.best.loss, 1e-6));
  const std::vector<float> logits = loop.predict(data);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) wrong += (logits[i] > 0) != (labels[i] == 1);
  CHECK(wrong < labels.size() / 20);
}

TEST_CASE("linear regression recovers a plane on a slice of the data, with any number of workers, in both precisions") {
  finds_the_plane();
  finds_the_plane(Mean{}, InProcess{3});
  finds_the_plane(Host<double>{});
}

TEST_CASE("one logit separates two classes") {
  std::vector<float> inputs;
  std::vector<std::int32_t> labels;
  RandomStream random(RandomKey{6});
  for (int i = 0; i < 200; ++i) {
    const auto x = static_cast<float>(random.normal());
    inputs.push_back(x);
    labels.push_back(x > 0.3f);
  }
  const InMemory<float> data(inputs, labels, Shape{1}, 2);
  TrainingLoop loop(Model(Shape{1}, Dense{.units = 1}), SigmoidCrossEntropy{}, momentum(), Constant{0.5},
                    ShuffledEpochs{.batch = 20});
  loop.run(data, UntilStep{300});
  const auto logits = loop.predict(data);
  int wrong = 0;
  for (std::size_t i = 0; i < 200; ++i) wrong += (logits[i] > 0.0f) != (labels[i] == 1);
  CHECK(wrong <= 4);
  CHECK(loop.evaluate(data, ErrorRate{}).metric == near(wrong / 200.0));
  const auto report = loop.evaluate(data, CrossEntropy{});
  CHECK(report.metric == near(report.loss));
}

TEST_CASE("labels that do not fit are rejected with an error message") {
  TrainingLoop loop(Model(Shape{2}, Dense{.units = 3}), MeanSquaredError{}, sgd(), Constant{0.1},
                    ShuffledEpochs{.batch = 2});
  CHECK_THROWS_WITH_AS(loop.step(plane(4)), "data: a label has 2 values, the model has 3 outputs", Error);
  const InMemoryRegression<float> bad({1, 2, 3, 4}, {1, 2, 3, 4, std::nanf(""), 6}, Shape{2}, Shape{3});
  CHECK_THROWS_WITH_AS(loop.step(bad), "data: value 1 of the label of example 1 is nan, expected a finite number",
                       Error);
  CHECK_THROWS_WITH_AS(InMemoryRegression<float>({1, 2, 3}, {1, 2}, Shape{2}),
                       "InMemoryRegression: there are 3 input values, expected 2 examples x 2 = 4", Error);
  CHECK_THROWS_WITH_AS(InMemoryRegression<float>({1, 2, 3}, {1, 2}, Shape{2}, Shape{3}),
                       "InMemoryRegression: there are 2 label values, expected a multiple of 3", Error);
}
