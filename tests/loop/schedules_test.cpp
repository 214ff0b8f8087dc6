// Schedules that receive feedback from a loop, and schedules of a selector's batch size.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "tiny.hpp"

using namespace algoperf;
using namespace algoperf::testing;

namespace {

template <class Schedule>
auto loop_with(const Schedule& schedule) {
  return TrainingLoop(Tiny::model(), Tiny::loss(), momentum(), schedule, ShuffledEpochs{.batch = 32});
}

// Records the learning rates of a run's steps.
struct Rates {
  std::vector<double>& rates;
  template <class Run>
  Control after_step(Run&, const StepReport& report) {
    rates.push_back(report.now.learning_rate);
    return Control::go_on;
  }
};

}  // namespace

TEST_CASE("a plateau drops the learning rate from the step after the evaluation that causes the drop") {
  const Tiny task;
  // With this threshold no later loss counts as an improvement, so every evaluation except the first causes a drop.
  const Plateau plateau{
      .peak = 0.1, .factor = 0.5, .patience = 0, .threshold = 1e9, .mode = PlateauThreshold::absolute};
  std::vector<double> rates;
  auto loop = loop_with(plateau);
  loop.run(task.train(), Evaluate(task, {.every = 3}), Rates{rates}, UntilStep{10});
  CHECK(rates == std::vector<double>{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.025});
  CHECK(plateau.state.drops == 0);  // the loop has a copy

  // Only the first observer that evaluates gives feedback.
  rates.clear();
  auto second = loop_with(plateau);
  second.run(task.train(), Evaluate(task, {.every = 3}), Evaluate(task, {.every = 1}), Rates{rates}, UntilStep{7});
  CHECK(rates == std::vector<double>{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.05});

  // In a hand-written loop.
  auto own = loop_with(plateau);
  for (int i = 0; i < 2; ++i) {
    own.step(task.train());
    own.feedback(own.evaluate(task.validation(), task.metric()));
  }
  CHECK(own.step(task.train()).now.learning_rate == 0.05);
}

TEST_CASE("a plateau on the metric receives the metric's direction") {
  const Tiny task;
  const Plateau of_metric{.peak = 0.2, .factor = 0.5, .patience = 2, .of = PlateauOf::metric};
  std::vector<EvaluationReport> evaluations;
  std::vector<double> rates;
  auto loop = loop_with(of_metric);
  loop.run(task.train(), Evaluate(task, {.every = 1}), History{evaluations}, Rates{rates}, UntilStep{40});
  Plateau expected = of_metric;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    CHECK(rates[i] == expected(i));
    expected.observe(evaluations[i].metric);
  }
  CHECK(expected.state.drops > 0);
}

TEST_CASE("a run with a plateau after a warm-up resumes bit for bit, including the plateau's counts") {
  const Tiny task;
  const auto schedule = join(Warmup{.peak = 0.2, .steps = 4}, 4,
                             Plateau{.peak = 0.2, .factor = 0.7, .patience = 1, .threshold = 0.05, .cooldown = 1});
  const Evaluate evaluate(task, {.every = 2});
  auto whole = loop_with(schedule);
  std::vector<double> rates;
  const RunReport expected = whole.run(task.train(), evaluate, Rates{rates}, UntilStep{40});
  CHECK(rates.back() < 0.2);
  for (const std::uint64_t stop : {1u, 3u, 8u, 19u, 20u, 39u}) {
    CAPTURE(stop);
    const TemporaryFile file;
    auto first = loop_with(schedule), second = loop_with(schedule);
    std::vector<double> found;
    first.run(task.train(), evaluate, Checkpoints(file.path(), {.every = stop}), Rates{found}, UntilStep{stop});
    const RunReport report =
        second.run(task.train(), evaluate, Checkpoints(file.path(), {.every = 1000}), Rates{found}, UntilStep{40});
    CHECK(found == rates);
    CHECK(same_values(second, whole));
    CHECK(same_report(report, expected));
  }
}

TEST_CASE("a checkpoint with a stateful schedule is rejected by a run with a stateless schedule, and vice versa") {
  const Tiny task;
  const TemporaryFile file;
  auto plateau = loop_with(Plateau{.peak = 0.1});
  auto constant = loop_with(Constant{0.1});
  plateau.step(task.train());
  constant.step(task.train());
  save_checkpoint(file.path(), plateau);
  CHECK(contains(sentence([&] { load_checkpoint(file.path(), constant); }), "schedule/drops"));
  save_checkpoint(file.path(), constant);
  CHECK(contains(sentence([&] { load_checkpoint(file.path(), plateau); }), "schedule/drops"));
}

TEST_CASE("a batch size that grows by a schedule") {
  const Tiny task;
  const auto growing = scheduled_batch(ShuffledEpochs{}, GrowingBatch{.first = 8, .factor = 2, .every = 3, .most = 32});
  const auto make = [&] {
    return TrainingLoop(Tiny::model(), Tiny::loss(), momentum(), Constant{0.1}, growing, Mean{}, InProcess{2});
  };
  auto loop = make();
  std::uint64_t examples = 0;
  for (const std::uint64_t size : {8u, 8u, 8u, 16u, 16u, 16u, 32u, 32u, 32u, 32u}) {
    examples += size;
    CHECK(loop.step(task.train()).examples == examples);
  }

  // A checkpoint saved while the batch size grows.
  const TemporaryFile file;
  auto first = make(), second = make();
  for (int i = 0; i < 5; ++i) first.step(task.train());
  save_checkpoint(file.path(), first);
  second.start(task.train());
  load_checkpoint(file.path(), second);
  for (int i = 0; i < 5; ++i) second.step(task.train());
  CHECK(same_values(second, loop));
}

TEST_CASE("scheduled_batch with a constant schedule does not change the selector, including its feedback") {
  const Tiny task;
  const auto make = [](const auto& selector) {
    return TrainingLoop(Tiny::model(), Tiny::loss(), momentum(), Constant{0.1}, selector);
  };
  const LossProportional own{.batch = 16, .seed = 3};
  auto loop = make(own), same = make(own);
  auto scheduled = make(scheduled_batch(own, [](std::uint64_t) { return 16.0; }));
  for (int i = 0; i < 6; ++i) {
    loop.step(task.train());
    scheduled.step(task.train());
  }
  CHECK(same_values(scheduled, loop));
  const TemporaryFile file;
  save_checkpoint(file.path(), scheduled);
  auto other = make(scheduled_batch(LossProportional{.batch = 16, .seed = 4}, [](std::uint64_t) { return 16.0; }));
  CHECK(contains(sentence([&] { load_checkpoint(file.path(), other); }), "the selector's seed was 3, now it is 4"));
}

TEST_CASE("a scheduled batch size of 0 or above the maximum is rejected") {
  const Tiny task;
  const auto after = [&](double size) {
    const auto selector =
        scheduled_batch(ShuffledEpochs{.batch = 16}, [size](std::uint64_t step) { return step < 2 ? 16 : size; });
    TrainingLoop loop(Tiny::model(), Tiny::loss(), momentum(), Constant{0.1}, selector);
    loop.step(task.train());
    loop.step(task.train());
    return sentence([&] { loop.step(task.train()); });
  };
  CHECK(contains(after(17), "scheduled_batch: the batch of step 3 is 17, expected 1 to 16"));
  CHECK(contains(after(0), "scheduled_batch: the batch of step 3 is 0, expected 1 to 16"));
  CHECK(contains(sentence([&] {
                   TrainingLoop loop(Tiny::model(), Tiny::loss(), momentum(), Constant{0.1},
                                     scheduled_batch(ShuffledEpochs{}, GrowingBatch{.first = 0}));
                   loop.step(task.train());
                 }),
                 "GrowingBatch: first is 0"));
}

TEST_CASE("a batch size follows the gradient noise that workers measure, and resumes bit for bit") {
  const Tiny task;
  const auto make = [](double share) {
    const NoiseScaleBatch batch{.least = 8, .most = 64, .share = share, .noise = {.decay = 0.9}};
    return TrainingLoop(Tiny::model(), Tiny::loss(), momentum(), Constant{0.05},
                        scheduled_batch(ShuffledEpochs{.seed = 2}, batch), MeasuredMean{}, InProcess{.workers = 4});
  };
  const auto sizes = [&](auto& loop, int steps) {
    std::vector<std::uint64_t> found;
    for (int i = 0; i < steps; ++i) {
      const std::uint64_t before = loop.last().examples;
      found.push_back(loop.step(task.train()).examples - before);
    }
    return found;
  };
  auto whole = make(1);
  const std::vector<std::uint64_t> expected = sizes(whole, 30);
  CHECK(expected[0] == 8);  // nothing is measured yet
  CHECK(std::count_if(expected.begin(), expected.end(), [](std::uint64_t n) { return n > 8 && n < 64; }) > 3);
  auto small = make(1e-6);
  CHECK(sizes(small, 10) == std::vector<std::uint64_t>(10, 8));

  const TemporaryFile file;
  auto first = make(1), second = make(1);
  std::vector<std::uint64_t> found = sizes(first, 13);
  save_checkpoint(file.path(), first);
  load_checkpoint(file.path(), second);
  for (const std::uint64_t n : sizes(second, 17)) found.push_back(n);
  CHECK(found == expected);
  CHECK(same_values(second, whole));
}

TEST_CASE("a batch size by the inner product test: small far from the optimum, growing near it, and resumed") {
  const Tiny task;
  const auto make = [] {
    const InnerProductBatch batch{.least = 8, .most = 128, .theta = 0.9, .nu = 0.7};
    const ShuffledEpochs epochs{.seed = 2, .last = LastBatch::drop};
    return TrainingLoop(Tiny::model(), Tiny::loss(), momentum(), Constant{0.02}, scheduled_batch(epochs, batch),
                        MeasuredSpread{}, InProcess{.workers = 8});
  };
  const auto sizes = [&](auto& loop, int steps) {
    std::vector<std::uint64_t> found;
    for (int i = 0; i < steps; ++i) {
      const std::uint64_t before = loop.last().examples;
      found.push_back(loop.step(task.train()).examples - before);
    }
    return found;
  };
  auto whole = make();
  const std::vector<std::uint64_t> expected = sizes(whole, 60);
  CHECK(std::vector<std::uint64_t>(expected.begin(), expected.begin() + 5) == std::vector<std::uint64_t>(5, 8));
  CHECK(std::is_sorted(expected.begin(), expected.end()));
  CHECK(expected.back() > 16);

  const TemporaryFile file;
  auto first = make(), second = make();
  std::vector<std::uint64_t> found = sizes(first, 27);
  save_checkpoint(file.path(), first);
  load_checkpoint(file.path(), second);
  for (const std::uint64_t n : sizes(second, 33)) found.push_back(n);
  CHECK(found == expected);
  CHECK(same_values(second, whole));
}

TEST_CASE("measuring gradient noise does not change the steps") {
  const Tiny task;
  const auto make = [](const auto& combiner) {
    return TrainingLoop(Tiny::model(), Tiny::loss(), sam(momentum()), Constant{0.05}, ShuffledEpochs{.batch = 30},
                        combiner, InProcess{.workers = 4});
  };
  auto mean = make(Mean{});
  auto measured = make(MeasuredMean{});
  auto spread = make(MeasuredSpread{});
  for (int i = 0; i < 5; ++i) {
    const auto loss = mean.step(task.train()).loss;
    CHECK(loss == measured.step(task.train()).loss);
    CHECK(loss == spread.step(task.train()).loss);
  }
  CHECK(same_values(mean, measured));
  CHECK(same_values(mean, spread));
}

TEST_CASE("a joined batch schedule receives gradient measurements and ignores non-finite ones") {
  const auto selector = scheduled_batch(ShuffledEpochs{.batch = 64}, join(Constant{8}, 3, NoiseScaleBatch{.most = 64}));
  static_assert(selector.has_gradient_feedback);
  auto state = selector.state(100);
  selector.gradient_feedback(state, GradientSquares{8, std::numeric_limits<double>::infinity(), 16, 1});
  CHECK(!state.schedule.second.noise.known());
  selector.gradient_feedback(state, GradientSquares{});
  CHECK(!state.schedule.second.noise.known());
  selector.gradient_feedback(state, GradientSquares{8, 2, 16, 1});
  CHECK(state.schedule.second.noise.known());
}
