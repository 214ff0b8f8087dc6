// Common mistakes of users: each throws an error with a message.
#include <doctest/doctest.h>

#include "../support/refused_step.hpp"
#include "tiny.hpp"

using namespace algoperf;
using namespace algoperf::testing;

namespace {

// A data set with a label outside [0, classes()).
struct Liar {
  using Input = float;
  std::size_t size() const { return 8; }
  Shape shape() const { return {784}; }
  std::size_t classes() const { return 10; }
  template <class T>
  void gather(const std::uint32_t* indices, std::size_t n, T* inputs, std::int32_t* labels) const {
    for (std::size_t i = 0; i < n; ++i) labels[i] = indices[i] == 5 ? 10 : 0;
    for (std::size_t i = 0; i < 784 * n; ++i) inputs[i] = T(0);
  }
};

// A data set that declares more examples than 32 bits can index.
struct TooMany : Liar {
  std::size_t size() const { return (std::size_t{1} << 32) + 5; }
};

InMemory<float> examples(std::size_t count, std::size_t width, std::size_t classes) {
  return {std::vector<float>(count * width), std::vector<std::int32_t>(count), Shape{width}, classes};
}

template <class Data>
std::string step_on(const Data& data) {
  auto loop = tiny_loop(sgd(), 0.1);
  return refused_step(loop, data);
}

}  // namespace

TEST_CASE("data that does not fit the model") {
  CHECK(step_on(examples(9, 783, 10)) == "data: an example has 783 inputs, the model takes 784");
  CHECK(step_on(examples(9, 784, 11)) == "data: the data has 11 classes, the model 10 outputs");
  CHECK(step_on(examples(0, 784, 10)) == "data: the data set is empty");
  CHECK(step_on(Liar{}) == "data: the label of example 5 is 10, expected [0, 10)");
  CHECK(step_on(examples(9, 784, 3)).empty());
}

TEST_CASE("images with a different order of axes") {
  const auto step = [](Shape image, Shape input) {
    const InMemory<float> data(std::vector<float>(2 * image.size()), {0, 1}, image, 2);
    TrainingLoop loop(linear_model(input, 2), SoftmaxCrossEntropy{}, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 2});
    return sentence([&] { loop.step(data); });
  };
  CHECK(step({3, 8, 8}, {8, 8, 3}) ==
        "data: an example is an image of shape {3, 8, 8}, the model takes {8, 8, 3} (rows, columns, channels)");
  CHECK(step({8, 8, 3}, {8, 8, 3}).empty());
  CHECK(step({8, 8, 3}, {192}).empty());
  CHECK(step({192}, {8, 8, 3}).empty());
}

TEST_CASE("tokens outside the model's vocabulary") {
  std::vector<std::int32_t> tokens(12, 3);
  const auto data = [&] { return InMemory<std::int32_t>(tokens, {0, 1, 0}, Shape{4}, 5); };
  TrainingLoop loop(next_character(4, 5, {.width = 2, .units = 3}), SoftmaxCrossEntropy{}, sgd(), Constant{0.1},
                    Always({2, 1}));
  CHECK(sentence([&] { loop.step(data()); }).empty());
  for (const std::int32_t wrong : {5, -1}) {
    tokens[6] = wrong;
    const std::string expected =
        "data: token 2 of example 1 is " + std::to_string(wrong) + ", expected [0, 5), the model's vocabulary";
    CHECK(sentence([&] { loop.step(data()); }) == expected);
    CHECK(sentence([&] { loop.evaluate(data(), CrossEntropy{}); }) == expected);
  }
}

TEST_CASE("layers, batches and windows of sizes that wrap around") {
  constexpr std::size_t all_ones = SIZE_MAX;
  const auto error = [](const auto& model, std::size_t batch = 8) {
    return sentence(
        [&] { TrainingLoop(model, SoftmaxCrossEntropy{}, sgd(), Constant{0.1}, ShuffledEpochs{.batch = batch}); });
  };
  const Dense head{.units = 2};
  CHECK(error(Model(Shape{784}, Dense{.units = all_ones}, head)) ==
        "Layout: tensor '0.weight' of shape {18446744073709551615, 784} has 2^48 elements or more");
  CHECK(error(Model(Shape{784}, head), all_ones) ==
        "TrainingLoop: the selector's batch is 18446744073709551615, expected 1 to 4294967295");
  CHECK(error(Model(Shape{std::size_t{1} << 32, std::size_t{1} << 32, 1}, head)) ==
        "Layout: tensor '0.weight' of shape {2, 281474976710656} has 2^48 elements or more");
  const auto convolution = [&](std::size_t size, std::size_t padding) {
    return error(Model(Shape{8, 8, 1}, Conv2d{.size = size, .padding = padding}, head));
  };
  CHECK(convolution(3, std::size_t{1} << 63) ==
        "0: Conv2d has padding 9223372036854775808, expected at most 2147483648");
  CHECK(convolution(1, std::size_t{1} << 31) ==
        "0: Conv2d has size 1 and padding 2147483648, for which a row of windows has 4294967304 elements or more, "
        "expected at most 4294967295");
  CHECK(convolution((std::size_t{1} << 32) + 8, std::size_t{1} << 31) ==
        "0: Conv2d has size 4294967304 and padding 2147483648, for which a row of windows has 281474976710656 "
        "elements or more, expected at most 4294967295");
  CHECK(error(Model(Shape{8, 8, 1}, MaxPool{.size = all_ones, .stride = all_ones}, head)) ==
        "0: MaxPool has size 18446744073709551615 and padding 0, which does not fit examples of shape {8, 8, 1}");
  CHECK(error(Model(Shape{1}, Dense{.units = std::size_t{1} << 40}), UINT32_MAX) ==
        "there is too little memory for 281474976710656 or more elements of 4 bytes");
  CHECK(sentence([&] { Predictor(Model(Shape{784}, Dense{.units = all_ones})); }) ==
        "Layout: tensor '0.weight' of shape {18446744073709551615, 784} has 2^48 elements or more");
  CHECK(sentence([&] { Predictor(Model(Shape{784}, head), {}, all_ones); }) ==
        "Predictor: the batch is 18446744073709551615, expected 1 to 4294967295");
}

TEST_CASE("data sets with more examples than 32 bits can index") {
  const std::string expected =
      "data: the data set has 4294967301 examples, expected at most 4294967295: indices have 32 bits";
  CHECK(step_on(TooMany{}) == expected);
  auto loop = tiny_loop(sgd(), 0.1);
  CHECK(sentence([&] { loop.evaluate(TooMany{}, ErrorRate{}); }) == expected);
  CHECK(sentence([&] { loop.predict(TooMany{}); }) == expected);
  CHECK(sentence([&] { Slice(TooMany{}, 7, std::size_t{1} << 32); }) ==
        "Slice: the range ends at example 4294967296, expected at most 4294967295: indices have 32 bits");
  CHECK(Slice(TooMany{}, 7, UINT32_MAX).size() == UINT32_MAX - 7);
}

TEST_CASE("evaluation data that does not fit the model") {
  auto loop = tiny_loop(sgd(), 0.1);
  const auto evaluate = [&](const auto& data) { return sentence([&] { loop.evaluate(data, ErrorRate{}); }); };
  CHECK(evaluate(examples(9, 783, 10)) == "data: an example has 783 inputs, the model takes 784");
  CHECK(evaluate(examples(0, 784, 10)) == "data: the data set is empty");
  CHECK(evaluate(Liar{}) == "data: the label of example 5 is 10, expected [0, 10)");
}

TEST_CASE("a different data set in the middle of training") {
  const Tiny task;
  auto loop = tiny_loop(sgd(), 0.1);
  loop.step(task.train());
  CHECK(sentence([&] { loop.step(task.validation()); }) ==
        "TrainingLoop: the data set has 64 examples, when training started it had 256");
}

TEST_CASE("a selector that makes an invalid selection") {
  const Tiny task;
  const auto select = [&](Always always, std::size_t batch) {
    always.batch = batch;
    return sentence([&] { TrainingLoop(task.model(), task.loss(), sgd(), Constant{0.1}, always).step(task.train()); });
  };
  const std::string chose = "TrainingLoop: the selector chose ";
  CHECK(select(Always({3, 256}), 2) == chose + "example 256, expected [0, 256)");
  CHECK(select(Always({3, 4, 5}), 2) == chose + "3 examples and 3 weights, expected the same number of each, 1 to 2");
  CHECK(select(Always({3, 4}, {1}), 2) == chose + "2 examples and 1 weights, expected the same number of each, 1 to 2");
  CHECK(select(Always({}, {}), 2) == chose + "0 examples and 0 weights, expected the same number of each, 1 to 2");
  CHECK(select(Always({3, 4}), 2).empty());
}

TEST_CASE("invalid options are rejected before training starts") {
  const Tiny task;
  const auto make = [&](const auto& loss, const auto& rule, const auto& selector) {
    return sentence([&] { TrainingLoop(task.model(), loss, rule, Constant{0.1}, selector); });
  };
  const ShuffledEpochs epochs;
  CHECK(contains(make(task.loss(), momentum({.mu = 2}), epochs), "mu is 2"));
  CHECK(contains(make(SoftmaxCrossEntropy{.label_smoothing = 1}, sgd(), epochs), "label_smoothing is 1"));
  CHECK(make(task.loss(), sgd(), ShuffledEpochs{.batch = 0}) ==
        "TrainingLoop: the selector's batch is 0, expected 1 to 4294967295");
  CHECK(sentence([&] {
          TrainingLoop(task.model(), task.loss(), sgd(), WarmupCosine{.peak = 1, .warmup = 9, .total = 3}, epochs);
        }) != "");
  CHECK(sentence([&] { Evaluate(task, {.every = 0}); }) == "Evaluate: every is 0, expected at least 1");
  CHECK(sentence([] { Checkpoints("file", {.every = 0}); }) == "Checkpoints: every is 0, expected at least 1");
}
