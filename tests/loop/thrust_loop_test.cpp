// The same training on Thrust, whose system the program was built for, as on the host.
#include <doctest/doctest.h>

#include <algoperf/backend/thrust.hpp>
#include <cmath>

#include "tiny.hpp"

using namespace algoperf;
using namespace algoperf::testing;

namespace {

// The largest difference between two loops' parameters, relative to the largest parameter.
template <class A, class B>
double difference(A& a, B& b) {
  const auto x = values_of(a), y = values_of(b);
  REQUIRE(x.size() == y.size());
  double most = 0, largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    most = std::fmax(most, std::fabs(double{x[i]} - double{y[i]}));
    largest = std::fmax(largest, std::fabs(double{x[i]}));
  }
  return std::isfinite(most) ? most / largest : most;
}

template <class Loop, class Data>
void train(Loop& loop, const Data& data, int steps) {
  for (int i = 0; i < steps; ++i) loop.step(data);
}

// The loops that `make` makes on the host and, twice, on Thrust: as far apart after some steps.
template <class Make, class Data>
void check_agreement(const Make& make, const Data& data, int steps) {
  auto host = make(Host<float>{});
  auto thrust = make(Thrust<float>{}), again = make(Thrust<float>{});
  auto before = make(Thrust<float>{});
  train(host, data, steps);
  train(thrust, data, steps);
  train(again, data, steps);
  CHECK(difference(host, thrust) < 1e-5);
  CHECK(difference(host, before) > 1e-3);
  CHECK(same_values(thrust, again));
  CHECK(std::fabs(host.last().loss - thrust.last().loss) < 1e-4 * host.last().loss);
}

}  // namespace

TEST_CASE("Thrust: a hundred steps of an MLP and of a CNN are the host's") {
  const Tiny task;
  check_agreement([](const auto& backend) { return tiny_loop(nesterov(), 0.02, backend); }, task.train(), 100);
  check_agreement(
      [&](const auto& backend) {
        const auto model = Model(Shape{28, 28, 1}, Conv2d{.filters = 4, .size = 5, .stride = 2}, Relu{}, MaxPool{},
                                 Flatten{}, Dense{.units = 10});
        return TrainingLoop(model, task.loss(), momentum(), Constant{0.01}, LossProportional{.batch = 8}, backend);
      },
      task.train(), 100);
}

TEST_CASE("Thrust: a model of tokens learns as on the host") {
  const Text text = Text::from_string("the quick brown fox jumps over the lazy dog and runs away. ", {.context = 6});
  check_agreement(
      [&](const auto& backend) {
        return TrainingLoop(next_character(6, text.classes(), {.width = 4, .units = 8}), SoftmaxCrossEntropy{},
                            momentum(), Constant{0.05}, WithReplacement{.batch = 8}, backend);
      },
      text, 50);
}

TEST_CASE_TEMPLATE("Thrust: workers combine as on the host", C, Mean, Adasum<Of::gradients>, Adasum<Of::updates>) {
  const Tiny task;
  check_agreement([](const auto& backend) { return tiny_loop(momentum(), 0.02, C{}, InProcess{3}, backend); },
                  task.train(), 10);
}

TEST_CASE("Thrust: evaluations and predictions are the host's") {
  const Tiny task;
  const auto rule = chain(Momentum{}, Descend{}, WeightAverage{.decay = 0.8});
  auto host = tiny_loop(rule, 0.05);
  auto thrust = tiny_loop(rule, 0.05, Thrust<float>{});
  train(host, task.train(), 10);
  train(thrust, task.train(), 10);
  const auto expected = host.evaluate(task.validation(), task.metric(), 48);
  const auto found = thrust.evaluate(task.validation(), task.metric(), 48);
  CHECK(found.loss == doctest::Approx(expected.loss).epsilon(1e-5));
  CHECK(found.metric == expected.metric);
  const auto a = host.predict(task.validation()), b = thrust.predict(task.validation());
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(b[i] == doctest::Approx(a[i]).epsilon(1e-3));
}

TEST_CASE("Thrust: a run resumes to the bit, and from the host's checkpoint") {
  const Tiny task;
  const auto rule = partition(matrices, muon(), otherwise, adamw());
  const auto make = [&](const auto& backend) {
    return TrainingLoop(task.model(), task.loss(), rule, WarmupCosine{.peak = 0.02, .warmup = 4, .total = 20},
                        LossProportional{.batch = 32}, Adasum<Of::updates>{}, InProcess{2}, backend);
  };
  auto whole = make(Thrust<float>{}), first = make(Thrust<float>{}), second = make(Thrust<float>{});
  auto host = make(Host<float>{});
  train(whole, task.train(), 12);
  train(first, task.train(), 5);
  const TemporaryFile file;
  save_checkpoint(file.path(), first);
  load_checkpoint(file.path(), second);
  train(second, task.train(), 7);
  CHECK(same_values(whole, second));

  load_checkpoint(file.path(), host);  // of Thrust, and goes on here
  CHECK(same_bits(values_of(host), values_of(first)));
  train(host, task.train(), 1);
  const TemporaryFile written;
  save_checkpoint(written.path(), host);
  auto third = make(Thrust<float>{});
  load_checkpoint(written.path(), third);
  CHECK(third.steps() == 6);
  CHECK(same_bits(values_of(third), values_of(host)));
  train(third, task.train(), 1);
  train(host, task.train(), 1);
  CHECK(difference(host, third) < 1e-4);
}

TEST_CASE("Thrust: what diverges is told as on the host") {
  const Tiny task;
  const auto told_by = [&](const auto& backend) {
    auto loop = tiny_loop(sgd(), 1e30, backend);
    return sentence([&] { train(loop, task.train(), 50); });
  };
  const std::string told = told_by(Thrust<float>{});
  CAPTURE(told);
  CHECK(contains(told, "training diverged at step "));
  CHECK(told == told_by(Host<float>{}));
}
