#include "algoperf/loop/measured_examples.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../support/near.hpp"
#include "gradient_squares.hpp"

namespace algoperf::testing::of_examples {

// Checks that the measurements through the layers are those of a worker per example.
template <class Model, class Data>
void check_examples(const Model& model, const Data& data, std::vector<float> weights = {}) {
  const auto expected = measure(model, data, MeasuredSpread{}, data.size(), weights);
  const auto found = measure(model, data, MeasuredExamples{}, 1, weights);
  REQUIRE(found.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CAPTURE(i);
    CHECK(found[i].small == 1);
    CHECK(found[i].big == static_cast<double>(data.size()));
    CHECK(found[i].square_small == near(expected[i].square_small, 1e-10));
    CHECK(found[i].square_big == near(expected[i].square_big, 1e-10));
    REQUIRE(found[i].spread.has_value());
    CHECK(found[i].spread->along == near(expected[i].spread->along, 1e-9));
    CHECK(found[i].spread->across == near(expected[i].spread->across, 1e-10));
  }
}

auto some_digits() { return Tiny::digits().subset(0, 7); }

auto some_text() {
  std::vector<std::int32_t> tokens, labels;
  for (std::int32_t i = 0; i < 30; ++i) {
    tokens.push_back((7 * i + 3) % 11);
    labels.push_back((5 * i + 1) % 11);
  }
  return InMemoryFields<Field<"input", std::int32_t>, Field<"label", std::int32_t>>({tokens, {6}}, {labels, {6}});
}

TEST_CASE("examples: the norms of dense layers are measured without a backward pass per example") {
  check_examples(mlp(Shape{28, 28, 1}, {12, 5}, 10), some_digits());
  check_examples(Model(Shape{28, 28, 1}, Dense{.units = 6, .bias = false}, Tanh{}, Dense{.units = 10}), some_digits());
  check_examples(Model(Shape{28, 28, 1}, Dense{.units = 6}, Dropout{.rate = 0.5}, Dense{.units = 10}), some_digits());
}

TEST_CASE("examples: layers that keep values, and layers with several rows per example") {
  check_examples(
      Model(Shape{28, 28, 1}, Conv2d{.filters = 4, .size = 3, .stride = 2}, GroupNorm{.groups = 2}, Relu{}, MaxPool{},
            Conv2d{.filters = 6, .size = 3}, InstanceNorm{}, Flatten{}, LayerNorm{}, Dense{.units = 10}),
      some_digits());
  check_examples(LstmLanguageModel{.vocabulary = 11, .context = 6, .width = 5, .units = 4}, some_text());
}

TEST_CASE("examples: a tensor that several ops share has one gradient per example") {
  check_examples(Gpt{.vocabulary = 11, .context = 6, .width = 8, .layers = 2, .heads = 2, .hidden = 12}, some_text());
  check_examples(RotaryTransformer{.vocabulary = 11, .context = 6, .width = 8, .layers = 2, .heads = 2, .hidden = 12},
                 some_text());
}

TEST_CASE("examples: weights multiply the gradients") {
  check_examples(mlp(Shape{28, 28, 1}, {12}, 10), some_digits(), {1, 2, 0.5f, 0, 1, 3, 1});
}

TEST_CASE("examples: measured at some steps only, with the steps of a single worker") {
  const auto squares = measure(Tiny::model(), some_digits(), MeasuredExamples{.every = 2}, 1);
  CHECK(squares[0].small == 0);
  CHECK(squares[1].small == 1);
  CHECK(squares[2].small == 0);
  CHECK(measure(Tiny::model(), Tiny::digits().subset(0, 1), MeasuredExamples{}, 1)[0].small == 0);  // n - 1 is 0

  TrainingLoop measured(Tiny::model(), Tiny::loss(), adamw(), Constant{1e-2}, ShuffledEpochs{.batch = 32},
                        MeasuredExamples{});
  TrainingLoop plain = tiny_loop(adamw(), 1e-2);
  const Tiny tiny;
  for (int i = 0; i < 5; ++i) {
    measured.step(tiny.train());
    plain.step(tiny.train());
  }
  CHECK(same_values(measured, plain));
}

TEST_CASE("examples: AdaBatchGrad's test grows the batch from the variances over examples") {
  const Tiny tiny;
  const InnerProductBatch test{.least = 8, .most = 64, .theta = 0.1, .nu = 0.1, .patience = 1};
  TrainingLoop loop(Tiny::model(), Tiny::loss(), adagrad_norm(), Constant{1},
                    scheduled_batch(ShuffledEpochs{.seed = 1}, test), MeasuredExamples{});
  for (int i = 0; i < 10; ++i) loop.step(tiny.train());
  CHECK(loop.last().examples > 10 * 8);
}

TEST_CASE("examples: models whose examples cannot be measured are refused") {
  const auto refuse = [](const auto& model, const auto& data, const char* sentence) {
    CHECK_THROWS_WITH_AS(measure(model, data, MeasuredExamples{}, 1), sentence, Error);
  };
  refuse(Model(Shape{28, 28, 1}, Flatten{}, BatchNorm{}, Dense{.units = 10}), some_digits(),
         "ExampleGradients: the model has buffers (BatchNorm), so the gradient of an example depends on the other "
         "examples of its batch");
  CHECK_THROWS_WITH_AS(measure(Tiny::model(), some_digits(), MeasuredExamples{.every = 0}, 1),
                       "MeasuredExamples: every is 0, expected at least 1", Error);
}

}  // namespace algoperf::testing::of_examples
