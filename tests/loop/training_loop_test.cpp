#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "../support/near.hpp"
#include "tiny.hpp"

using namespace algoperf;
using namespace algoperf::testing;

TEST_CASE("training reduces the loss, and the report is consistent") {
  const Tiny task;
  auto loop = tiny_loop(adamw(), 3e-3);
  const double before = loop.evaluate(task.train(), task.metric()).loss;
  const RunReport report = loop.run(task.train(), UntilStep{120});
  const EvaluationReport after = loop.evaluate(task.train(), task.metric());
  CHECK(before > 2);
  CHECK(after.loss < 0.3 * before);
  CHECK(after.metric < 0.2);
  CHECK(report.reason == Control::budget_spent);
  CHECK(report.last.now.t == 120);
  CHECK(report.last.now.learning_rate == 3e-3);
  CHECK(report.last.examples == 120 * 32);
  CHECK(report.last.training_seconds == near(after.training_seconds));
  CHECK(!report.evaluated);
}

TEST_CASE("runs with equal seeds agree bit for bit, runs with different seeds differ") {
  const Tiny task;
  const auto run = [&](Seed seed) {
    auto loop = tiny_loop(adamw(), 1e-3, seed);
    loop.run(task.train(), UntilStep{10});
    return values_of(loop);
  };
  CHECK(same_bits(run({1}), run({1})));
  CHECK(!same_bits(run({1}), run({2})));
}

TEST_CASE("results do not depend on the number of threads, bit for bit") {
  const Tiny task;
  const auto model = mlp(Shape{28, 28, 1}, {160, 96}, 10);  // wide enough to be split among threads
  const auto run = [&](unsigned threads, const auto& rule, const auto& combiner, std::size_t workers) {
    TrainingLoop loop(model, task.loss(), rule, Constant{1e-3}, ShuffledEpochs{.batch = 96}, combiner,
                      InProcess{workers}, Host<>{.threads = threads});
    loop.run(task.train(), UntilStep{4});
    return values_of(loop);
  };
  const auto both = partition(matrices, muon(), otherwise, lamb());
  const auto one = run(1, both, SingleWorker{}, 1);
  for (const unsigned threads : {2u, 3u, 8u}) {
    CHECK(same_bits(run(threads, both, SingleWorker{}, 1), one));
    CHECK(same_bits(run(threads, sam(adamw()), Adasum<>{}, 2), run(1, sam(adamw()), Adasum<>{}, 2)));
  }
}

// Several threads copy the examples of data in memory.
TEST_CASE("batches do not depend on the number of threads") {
  constexpr std::size_t n = 300, width = 700;
  RandomStream random(RandomKey{3});
  std::vector<float> inputs(n * width), reals(2 * n);
  for (float& x : inputs) x = random.uniform();
  for (float& x : reals) x = random.uniform();
  std::vector<std::int32_t> labels(n);
  for (std::int32_t& label : labels) label = static_cast<std::int32_t>(random.below(3));
  const InMemory<float> classes(inputs, labels, Shape{width}, 3);
  const InMemoryRegression<float> regression(inputs, reals, Shape{width}, Shape{2});
  const auto after = [](const auto& data, std::size_t outputs, const auto& loss, unsigned threads) {
    TrainingLoop loop(Model(Shape{width}, Dense{.units = outputs}), loss, adamw(), Constant{1e-2},
                      ShuffledEpochs{.batch = 101}, Host<float>{.threads = threads});
    for (int i = 0; i < 5; ++i) loop.step(data);
    return values_of(loop);
  };
  for (const unsigned threads : {2u, 3u}) {
    const auto check = [&](const auto& data, std::size_t outputs, const auto& loss) {
      CHECK(same_bits(after(data, outputs, loss, threads), after(data, outputs, loss, 1)));
    };
    check(classes, 3, SoftmaxCrossEntropy{});
    check(classes.subset(7, n), 3, SoftmaxCrossEntropy{});
    check(regression, 2, MeanSquaredError{});
  }
}

TEST_CASE("a run continues where the previous run ended") {
  const Tiny task;
  auto once = tiny_loop(momentum(), 0.1), twice = tiny_loop(momentum(), 0.1);
  once.run(task.train(), UntilStep{11});
  twice.run(task.train(), UntilStep{4});
  const RunReport report = twice.run(task.train(), UntilStep{11});
  CHECK(report.last.now.t == 11);
  CHECK(same_values(once, twice));
  const RunReport nothing = twice.run(task.train(), UntilStep{11});  // no step is left to run
  CHECK(twice.steps() == 11);
  CHECK(nothing.reason == Control::budget_spent);
  CHECK(nothing.last.now.t == 11);
  CHECK(nothing.last.loss == report.last.loss);
  CHECK(nothing.last.examples == report.last.examples);
  CHECK(nothing.last.training_seconds >= report.last.training_seconds);
}

TEST_CASE("the schedule receives steps from 0, the rule steps from 1") {
  const Tiny task;
  std::vector<std::uint64_t> asked;
  const auto schedule = [&asked](std::uint64_t step) {
    asked.push_back(step);
    return 0.25;
  };
  TrainingLoop loop(task.model(), task.loss(), sgd(), schedule, ShuffledEpochs{.batch = 32});
  CHECK(loop.step(task.train()).now.t == 1);
  CHECK(loop.step(task.train()).now.learning_rate == 0.25);
  CHECK(asked == std::vector<std::uint64_t>{0, 1});
}

TEST_CASE("evaluate reads examples in place, to the same effect as copies, and leaves the training batch as it was") {
  struct Copied {  // without in_place
    Slice<InMemory<float>> data;
    using Input = float;
    std::size_t size() const { return data.size(); }
    Shape shape() const { return data.shape(); }
    std::size_t classes() const { return data.classes(); }
    void gather(const std::uint32_t* indices, std::size_t n, float* inputs, std::int32_t* labels) const {
      data.gather(indices, n, inputs, labels);
    }
  };
  const Tiny task;
  auto in_place = tiny_loop(sgd(), 0.1), copying = tiny_loop(sgd(), 0.1), neither = tiny_loop(sgd(), 0.1);
  for (int step = 0; step < 3; ++step) {
    const EvaluationReport first = in_place.evaluate(task.validation(), task.metric()),
                           second = copying.evaluate(Copied{task.validation()}, task.metric());
    CHECK(first.loss == second.loss);
    CHECK(first.metric == second.metric);
    CHECK(in_place.predict(task.validation()) == copying.predict(Copied{task.validation()}));
    in_place.step(task.train());
    copying.step(task.train());
    neither.step(task.train());
  }
  CHECK(same_values(in_place, neither));
  CHECK(same_values(copying, neither));
}

TEST_CASE("evaluate calls the gather of a class that derives from data in memory") {
  struct Zeroed : InMemory<float> {
    using InMemory<float>::InMemory;
    void gather(const std::uint32_t* indices, std::size_t n, float* inputs, std::int32_t* labels) const {
      InMemory<float>::gather(indices, n, inputs, labels);
      std::fill_n(inputs, n * shape().size(), 0.0f);
    }
  };
  const Tiny task;
  auto loop = tiny_loop(sgd(), 0.1);
  Zeroed zeroed(task.all.inputs(), task.all.labels(), task.all.shape(), task.all.classes());
  CHECK(loop.evaluate(zeroed, task.metric()).loss == near(std::log(10), 1e-6));  // outputs are zeros
}

TEST_CASE("evaluate: a mean over every example, in batches of any size") {
  const Tiny task;
  const auto evaluate = [&](std::size_t batch) {
    TrainingLoop loop(task.model(), task.loss(), sgd(), Constant{0.1}, ShuffledEpochs{.batch = batch}, Host<double>{});
    return loop.evaluate(task.validation(), task.metric());
  };
  const EvaluationReport one = evaluate(64), parts = evaluate(13);  // 64 = 4 * 13 + 12
  CHECK(parts.loss == near(one.loss, 1e-12));
  CHECK(parts.metric == one.metric);
  CHECK(one.metric * 64 == std::round(one.metric * 64));
  CHECK(std::string(one.metric_name) == "error");
}

TEST_CASE("evaluating does not affect training") {
  const Tiny task;
  auto watched = tiny_loop(adamw(), 1e-3), alone = tiny_loop(adamw(), 1e-3);
  for (int i = 0; i < 6; ++i) {
    watched.step(task.train());
    watched.evaluate(task.validation(), task.metric());
    alone.step(task.train());
  }
  CHECK(same_values(watched, alone));
}

TEST_CASE("evaluations use the averaged weights, training does not") {
  const Tiny task;
  const auto rule = [](double decay) { return chain(Momentum{}, Descend{}, WeightAverage{.decay = decay}); };
  auto plain = tiny_loop(momentum(), 0.1);
  auto slow = tiny_loop(rule(0.9), 0.1), instant = tiny_loop(rule(0), 0.1);
  for (int i = 0; i < 12; ++i) {
    plain.step(task.train());
    slow.step(task.train());
    instant.step(task.train());
  }
  CHECK(same_bits(values_of(slow), values_of(plain)));
  const double now = plain.evaluate(task.validation(), task.metric()).loss;
  CHECK(instant.evaluate(task.validation(), task.metric()).loss == now);
  CHECK(std::fabs(slow.evaluate(task.validation(), task.metric()).loss - now) > 1e-3);
}

TEST_CASE("examples of weight 0 do not count, in the loss or in the gradient") {
  const Tiny task;
  const auto run = [&](const Always& examples) {
    TrainingLoop loop(task.model(), task.loss(), sgd(), Constant{0.5}, examples, Host<double>{});
    const double loss = *loop.step(task.train()).loss;
    return std::pair(loss, values_of(loop));
  };
  const auto four = run(Always(range(0, 4)));
  std::vector<float> weights(8, 2.0f);  // not a braced list: at -O3, g++ 12 compiles {2, 2, 2, 2, 0, 0, 0, 0} to all 2
  std::fill(weights.begin() + 4, weights.end(), 0.0f);
  const auto eight = run(Always(range(0, 8), weights));
  CHECK(eight.first == near(four.first, 1e-12));
  for (std::size_t i = 0; i < four.second.size(); ++i) REQUIRE(std::fabs(four.second[i] - eight.second[i]) < 1e-14);

  TrainingLoop fresh(task.model(), task.loss(), sgd(), Constant{0.5}, Always(range(0, 4)), Host<double>{});
  const auto none = run(Always(range(0, 4), {0, 0, 0, 0}));
  CHECK(none.first == 0);
  CHECK(none.second == values_of(fresh));
}

TEST_CASE("a batch larger than the data set") {
  const Tiny task;
  TrainingLoop epochs(task.model(), task.loss(), sgd(), Constant{0.1}, ShuffledEpochs{.batch = 1000});
  CHECK(epochs.step(task.train()).examples == 256);
  CHECK(epochs.step(task.train()).examples == 512);
  TrainingLoop drawn(task.model(), task.loss(), sgd(), Constant{0.1}, WithReplacement{.batch = 1000});
  CHECK(drawn.step(task.train()).examples == 1000);
  CHECK(sentence([&] {
          TrainingLoop dropped(task.model(), task.loss(), sgd(), Constant{0.1},
                               ShuffledEpochs{.batch = 1000, .last = LastBatch::drop});
          dropped.step(task.train());
        }) == "ShuffledEpochs: batch is 1000, expected at most the 256 examples when the last batch is dropped");
}

namespace {

// A host backend that declares its memory to be a device's, so examples are gathered in host memory and then copied.
struct FarHost : Host<float> {
  static constexpr bool on_host = false;
};

}  // namespace

TEST_CASE("a backend whose memory is not the host's gives the same bits and makes the same checks") {
  const Tiny task;
  auto near = tiny_loop(adamw(), 1e-3);
  auto far = tiny_loop(adamw(), 1e-3, FarHost{});
  near.run(task.train(), UntilStep{9});
  far.run(task.train(), UntilStep{9});
  CHECK(same_bits(values_of(near), values_of(far)));
  CHECK(same_bits(near.predict(task.validation()), far.predict(task.validation())));
  CHECK(near.evaluate(task.validation(), task.metric()).loss == far.evaluate(task.validation(), task.metric()).loss);

  TrainingLoop tokens(next_character(2, 3, {.width = 2, .units = 3}), SoftmaxCrossEntropy{}, sgd(), Constant{0.1},
                      ShuffledEpochs{.batch = 1}, FarHost{});
  const InMemory<std::int32_t> data({0, 3}, {1}, Shape{2}, 3);
  CHECK(sentence([&] { tokens.step(data); }) ==
        "data: token 1 of example 0 is 3, expected [0, 3), the model's vocabulary");
}

TEST_CASE("seconds that a caller counts as training are added to the clock") {
  const Tiny task;
  auto loop = tiny_loop(sgd(), 0.1);
  loop.step(task.train());
  const double before = loop.training_seconds();
  loop.count_as_training(2);
  CHECK(loop.training_seconds() == before + 2);
}
