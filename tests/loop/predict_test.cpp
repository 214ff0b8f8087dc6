#include <doctest/doctest.h>

#include <algorithm>

#include "../support/near.hpp"
#include "tiny.hpp"

using namespace algoperf;
using namespace algoperf::testing;

namespace {

template <class Loop>
Loop& trained(Loop&& loop) {
  loop.run(Tiny{}.train(), UntilStep{30});
  return loop;
}

// Returns the fraction of rows whose largest output is not at the label.
template <class S, class Data>
double error_of(const std::vector<S>& outputs, const Data& data) {
  std::size_t wrong = 0;
  for (std::uint32_t i = 0; i < data.size(); ++i) {
    std::vector<float> input(784);
    std::int32_t label = 0;
    data.gather(&i, 1, input.data(), &label);
    const S* const row = outputs.data() + 10 * i;
    wrong += std::max_element(row, row + 10) - row != label;
  }
  return static_cast<double>(wrong) / static_cast<double>(data.size());
}

}  // namespace

TEST_CASE("predict: returns the outputs that an evaluation scores, in batches of any size") {
  const Tiny task;
  auto loop = tiny_loop(adamw(), 3e-3, Host<double>{});
  trained(loop);
  const auto outputs = loop.predict(task.validation());
  REQUIRE(outputs.size() == 640);
  CHECK(error_of(outputs, task.validation()) == loop.evaluate(task.validation(), task.metric()).metric);
  for (const std::size_t batch : {1u, 7u, 64u, 1000u}) {
    const auto again = loop.predict(task.validation(), batch);
    for (std::size_t i = 0; i < outputs.size(); ++i) REQUIRE(again[i] == near(outputs[i], 1e-12));
  }
}

TEST_CASE("predict: inputs without labels") {
  const Tiny task;
  auto loop = tiny_loop(adamw(), 3e-3);
  trained(loop);
  std::vector<float> inputs(64 * 784);
  std::vector<std::int32_t> labels(64);
  const auto indices = range(0, 64);
  task.validation().gather(indices.data(), 64, inputs.data(), labels.data());
  CHECK(same_bits(loop.predict(inputs), loop.predict(task.validation())));
  inputs.pop_back();
  CHECK(sentence([&] { loop.predict(inputs); }) ==
        "Unlabelled: there are 50175 input values, expected a multiple of 784, the size of an example");
  CHECK(sentence([&] { loop.predict(std::vector<float>{}); }) == "data: the data set is empty");

  TrainingLoop tokens(next_character(2, 5, {.width = 2, .units = 3}), SoftmaxCrossEntropy{}, sgd(), Constant{0.1},
                      ShuffledEpochs{.batch = 4});
  CHECK(tokens.predict(std::vector<std::int32_t>{0, 4, 1, 2, 3, 3}).size() == 15);
  CHECK(sentence([&] {
          tokens.predict(std::vector<std::int32_t>{0, 4, 1, 5});
        }) == "data: token 1 of example 1 is 5, expected [0, 5), the model's vocabulary");
}

TEST_CASE("predict: uses averaged parameters if the rule computes them, and does not affect training") {
  const Tiny task;
  auto plain = tiny_loop(momentum(), 0.1), asked = tiny_loop(momentum(), 0.1);
  auto slow = tiny_loop(chain(Momentum{}, Descend{}, WeightAverage{.decay = 0.9}), 0.1);
  for (int i = 0; i < 8; ++i) {
    plain.step(task.train());
    asked.step(task.train());
    slow.step(task.train());
    asked.predict(task.validation(), 50);
    asked.evaluate(task.validation(), task.metric(), 50);
  }
  CHECK(same_values(plain, asked));
  CHECK(same_bits(values_of(plain), values_of(slow)));
  CHECK(!same_bits(plain.predict(task.validation()), slow.predict(task.validation())));
  CHECK(error_of(slow.predict(task.validation()), task.validation()) ==
        slow.evaluate(task.validation(), task.metric()).metric);
}

TEST_CASE("Predictor: predicts as the loop does, from its checkpoint, its parameters or its averaged parameters") {
  const Tiny task;
  const Folder folder;
  const std::string path = folder / "loop";
  auto loop = tiny_loop(chain(Momentum{}, Descend{}, WeightAverage{.decay = 0.9}), 0.1);
  loop.run(task.train(), Evaluate(task, {.every = 5}), BestCheckpoint{path}, UntilStep{5});
  const auto averaged = loop.predict(task.validation());

  Predictor predictor(Tiny::model());
  CHECK(sentence([&] { predictor.predict(task.validation()); }) ==
        "Predictor: the parameters have no values yet: call load_values(path, predictor), or write them through "
        "values()");
  CHECK(!sentence([&] { load_values("/nonexistent", predictor); }).empty());
  CHECK(!sentence([&] { predictor.predict(task.validation()); }).empty());
  load_evaluation_values(path, predictor);
  CHECK(same_bits(predictor.predict(task.validation()), averaged));
  load_values(path, predictor);
  CHECK(same_bits(values_of(predictor), values_of(loop)));
  CHECK(!same_bits(predictor.predict(task.validation()), averaged));
  load_values(evaluation_values_dict(loop), predictor);
  CHECK(same_bits(predictor.predict(task.validation()), averaged));
  CHECK(predictor.values("2.bias").size() == 10);

  Predictor few(Tiny::model(), Host<float>{}, 7);
  load_evaluation_values(path, few);
  const auto again = few.predict(task.validation());
  for (std::size_t i = 0; i < averaged.size(); ++i) REQUIRE(std::abs(again[i] - averaged[i]) < 1e-5f);

  auto other = tiny_loop(adamw(), 0.1);
  load_evaluation_values(path, other);  // the averaged parameters become the parameters of `other`
  CHECK(same_bits(other.predict(task.validation()), averaged));
  auto resumed = tiny_loop(chain(Momentum{}, Descend{}, WeightAverage{.decay = 0.9}), 0.1);
  load_checkpoint(path, resumed);
  CHECK(same_bits(resumed.predict(task.validation()), averaged));
  CHECK(same_values(resumed, loop));

  auto plain = tiny_loop(adamw(), 0.1);
  save_checkpoint(path, plain);  // has no averaged parameters
  load_evaluation_values(path, predictor);
  CHECK(same_bits(values_of(predictor), values_of(plain)));
}

TEST_CASE("Predictor: labels of any type, tokens, and inputs that do not fit") {
  Predictor line(linear_model(Shape{2}, 3));
  line.values("0.bias")[1] = 5;
  const InMemoryRegression<float> numbers({1, 2, 3, 4}, {0.5f, 0.25f, 1, 2, 3, 4}, Shape{2}, Shape{3});
  const auto found = line.predict(numbers);
  REQUIRE(found.size() == 6);
  CHECK(same_bits(found, line.predict(std::vector<float>{1, 2, 3, 4})));

  Predictor tokens(next_character(2, 5, {.width = 2, .units = 3}));
  tokens.values()[0] = 1;
  CHECK(tokens.predict(std::vector<std::int32_t>{0, 4, 1, 2, 3, 3}).size() == 15);
  CHECK(sentence([&] {
          tokens.predict(std::vector<std::int32_t>{0, 4, 1, 5});
        }) == "data: token 1 of example 1 is 5, expected [0, 5), the model's vocabulary");
  CHECK(sentence([&] { line.predict(std::vector<float>{}); }) == "data: the data set is empty");
  CHECK(sentence([&] { line.predict(Tiny{}.validation()); }) == "data: an example has 784 inputs, the model takes 2");
  CHECK(sentence([] { Predictor(linear_model(Shape{2}, 3), Host<float>{}, 0); }) ==
        "Predictor: the batch is 0, expected 1 to 4294967295");
}

TEST_CASE("values: all parameters, or one tensor by name") {
  auto loop = tiny_loop(sgd(), 0.1);
  const auto& same = loop;
  const auto bias = loop.values("2.bias");
  CHECK(bias.size() == 10);
  CHECK(same.values("2.bias").data() == bias.data());
  CHECK(same.values() == loop.values());
  CHECK(loop.values("0.weight").size() == 12 * 784);
  CHECK(sentence([&] { same.values("weight"); }) == "Layout: there is no tensor 'weight'");
}

TEST_CASE("Evaluate: any data set with any metric and batch size") {
  const Tiny task;
  std::vector<EvaluationReport> on_training, on_validation;
  auto loop = tiny_loop(adamw(), 3e-3);
  loop.run(task.train(), Evaluate(task.train(), CrossEntropy{}, {.every = 10, .batch = 100}),
           Evaluate(task, {.every = 10}), History{on_training}, History{on_validation, 1}, UntilStep{20});
  REQUIRE(on_training.size() == 2);
  CHECK(std::string(on_training[0].metric_name) == "cross-entropy");
  CHECK(on_training[1].loss == near(loop.evaluate(task.train(), CrossEntropy{}).loss, 1e-5));
  CHECK(on_training[1].metric == near(on_training[1].loss));
  CHECK(on_validation[1].metric == loop.evaluate(task.validation(), task.metric()).metric);
  const EvaluateOptions options{.every = 5};
  const Evaluate by_variable(task, options);
  CHECK(by_variable.evaluation_due({.now = {5, 0.1}}));
}
