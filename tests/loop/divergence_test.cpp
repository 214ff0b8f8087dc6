#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tiny.hpp"

using namespace algoperf;
using namespace algoperf::testing;

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

// Records the reason that end receives.
struct AtEnd {
  Control& reason;
  template <class Run>
  void end(Run&, const RunReport& report) const {
    reason = report.reason;
  }
};

template <class Loop, class Data>
std::string steps_until_diverged(Loop& loop, const Data& data) {
  try {
    for (int i = 0; i < 50; ++i) loop.step(data);
  } catch (const Diverged& diverged) {
    return diverged.what();
  }
  return "did not diverge";
}

}  // namespace

TEST_CASE("a huge learning rate: the message names the step and the tensor") {
  const Tiny task;
  auto loop = tiny_loop(sgd(), 1e30);
  const std::string text = steps_until_diverged(loop, task.train());
  CHECK(contains(text, "training diverged at step " + std::to_string(loop.steps() + 1) + ": the loss is not finite; "));
  CHECK(contains(text, "tensor '"));
  CHECK(loop.steps() >= 1);
}

TEST_CASE("a run that diverges: the exception contains the report") {
  const Tiny task;
  auto loop = tiny_loop(sgd(), 1e30);
  std::vector<EvaluationReport> found;
  Control at_end = Control::go_on;
  try {
    loop.run(task.train(), Evaluate(task, {.every = 1}), History{found}, AtEnd{at_end}, UntilStep{50});
    FAIL("did not diverge");
  } catch (const Diverged& diverged) {
    CHECK(diverged.report.reason == Control::diverged);
    CHECK(diverged.report.diverged_at() == loop.steps() + 1);
    CHECK(contains(diverged.what(), "at step " + std::to_string(loop.steps() + 1)));
    CHECK(diverged.report.last.now.t == loop.steps());
    CHECK(diverged.report.evaluated);
    CHECK(diverged.report.best.step == found.front().step);
    CHECK(std::string(describe(diverged.report.reason)) == "diverged");
  }
  CHECK(at_end == Control::diverged);
  CHECK(RunReport{}.diverged_at() == 0);
}

TEST_CASE("a NaN learning rate") {
  const Tiny task;
  TrainingLoop bad(
      task.model(), task.loss(), sgd(), [](std::uint64_t t) { return t < 3 ? 0.1 : double{not_a_number}; },
      ShuffledEpochs{.batch = 32});
  CHECK(sentence([&] { steps_until_diverged(bad, task.train()); }) ==
        "step: learning_rate is nan at t = 4, expected a finite number of at least 0");
}

TEST_CASE("a negative or infinite learning rate") {
  const Tiny task;
  const auto error = [&](const auto& schedule) {
    return sentence([&] {
      TrainingLoop loop(task.model(), task.loss(), sgd(), schedule, ShuffledEpochs{.batch = 32});
      loop.run(task.train(), UntilStep{5});
    });
  };
  CHECK(error(Constant{-0.1}) ==
        "TrainingLoop: the learning rate of the first step is -0.1, expected a finite number of at least 0");
  CHECK(error([](std::uint64_t) { return HUGE_VAL; }) ==
        "step: learning_rate is inf at t = 1, expected a finite number of at least 0");
  CHECK(error([](std::uint64_t t) { return 0.2 - 0.1 * static_cast<double>(t); }) ==
        "step: learning_rate is -0.1 at t = 4, expected a finite number of at least 0");
  CHECK(error(Linear{.from = 0.1, .to = 0, .steps = 3}).empty());
}

TEST_CASE("NaN among the inputs") {
  std::vector<float> inputs(40, 0.5f);
  inputs[17] = not_a_number;
  const InMemory<float> data(inputs, std::vector<std::int32_t>(10, 1), Shape{4}, 2);
  TrainingLoop loop(mlp(Shape{4}, {3}, 2), SoftmaxCrossEntropy{}, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 10});
  CHECK(steps_until_diverged(loop, data) ==
        "training diverged at step 1: the loss is not finite; the parameters are finite, but an input of the batch is "
        "not");
}

TEST_CASE("finite labels whose squares overflow") {
  const InMemoryRegression<float> data(std::vector<float>(40, 0.5f), std::vector<float>(10, 1e30f), Shape{4}, Shape{1});
  TrainingLoop loop(Model(Shape{4}, Dense{.units = 1}), MeanSquaredError{}, sgd(), Constant{0.1},
                    ShuffledEpochs{.batch = 10});
  CHECK(steps_until_diverged(loop, data) ==
        "training diverged at step 1: the loss is not finite; parameters, inputs and gradients are finite, so the "
        "outputs overflowed");
}

TEST_CASE("NaN among the parameters: the message names the tensor") {
  const Tiny task;
  auto loop = tiny_loop(sgd(), 0.1);
  const TensorHandle handle = loop.layout().find("2.bias");
  loop.values()[loop.layout().place_of(handle).offset + 3] = not_a_number;
  CHECK(steps_until_diverged(loop, task.train()) ==
        "training diverged at step 1: the loss is not finite; the parameters of tensor '2.bias' hold NaN or infinity");
}

TEST_CASE("a NaN example weight") {
  const Tiny task;
  TrainingLoop loop(task.model(), task.loss(), sgd(), Constant{0.1}, Always({0, 1}, {1, not_a_number}));
  CHECK(contains(steps_until_diverged(loop, task.train()), "at step 1: the loss is not finite"));
}

TEST_CASE("a rule that tolerates non-finite gradients skips the step, and training continues") {
  std::vector<float> inputs(40, 0.5f);
  inputs[17] = not_a_number;
  const InMemory<float> data(inputs, std::vector<std::int32_t>(10, 1), Shape{4}, 2);
  TrainingLoop loop(mlp(Shape{4}, {3}, 2), SoftmaxCrossEntropy{}, apply_if_finite(adamw()), Constant{0.1},
                    ShuffledEpochs{.batch = 2});
  const auto first = values_of(loop);
  int left_out = 0;
  for (int i = 0; i < 5; ++i) left_out += !std::isfinite(*loop.step(data).loss);  // an epoch
  CHECK(left_out == 1);
  CHECK(values_of(loop) != first);
  for (const float x : values_of(loop)) CHECK(std::isfinite(x));
}
