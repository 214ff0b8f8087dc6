// Schedules that a loop tells something, or that tell a selector how much to take.
#include <doctest/doctest.h>

#include "tiny.hpp"

using namespace algoperf;
using namespace algoperf::testing;

namespace {

template <class Schedule>
auto loop_with(const Schedule& schedule) {
  return TrainingLoop(Tiny::model(), Tiny::loss(), momentum(), schedule, ShuffledEpochs{.batch = 32});
}

// The rates of a run's steps, from its first on.
struct Rates {
  std::vector<double>& rates;
  template <class Run>
  Control after_step(Run&, const StepReport& report) {
    rates.push_back(report.now.learning_rate);
    return Control::go_on;
  }
};

// What GrowingBatch's comment says to write.
struct Growing {
  ShuffledEpochs selector;
  GrowingBatch schedule;
  std::size_t batch = schedule.most;

  using State = ShuffledEpochs::State;
  State state(std::size_t size) const { return selector.state(size); }
  void select(State& state, Step step, Selection& selection) const {
    ShuffledEpochs now = selector;
    now.batch = schedule(step.t - 1);
    now.select(state, step, selection);
  }
};

}  // namespace

TEST_CASE("a plateau drops from the step after the evaluation that says so") {
  const Tiny task;
  // No loss is good enough after the first: every evaluation but that is a drop.
  const Plateau plateau{
      .peak = 0.1, .factor = 0.5, .patience = 0, .threshold = 1e9, .mode = PlateauThreshold::absolute};
  std::vector<double> rates;
  auto loop = loop_with(plateau);
  loop.run(task.train(), Evaluate(task, {.every = 3}), Rates{rates}, UntilStep{10});
  CHECK(rates == std::vector<double>{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.025});
  CHECK(plateau.state.drops == 0);  // the loop has its own

  // By the first observer that evaluates, and by no other.
  rates.clear();
  auto second = loop_with(plateau);
  second.run(task.train(), Evaluate(task, {.every = 3}), Evaluate(task, {.every = 1}), Rates{rates}, UntilStep{7});
  CHECK(rates == std::vector<double>{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.05});

  // In a loop of one's own.
  auto own = loop_with(plateau);
  for (int i = 0; i < 2; ++i) {
    own.step(task.train());
    own.feedback(own.evaluate(task.validation(), task.metric()));
  }
  CHECK(own.step(task.train()).now.learning_rate == 0.05);
}

TEST_CASE("a plateau on the metric hears which way is better") {
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

TEST_CASE("a run with a plateau after a warm-up resumes to the bit, its evaluations counted") {
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

TEST_CASE("a checkpoint of a schedule that remembers fits no run whose schedule does not") {
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

TEST_CASE("a batch grows by a selector in front of another") {
  const Tiny task;
  const Growing growing{.selector = {.batch = 8}, .schedule = {.first = 8, .factor = 2, .every = 3, .most = 32}};
  const auto make = [&] {
    return TrainingLoop(Tiny::model(), Tiny::loss(), momentum(), Constant{0.1}, growing, Mean{}, InProcess{2});
  };
  auto loop = make();
  std::uint64_t examples = 0;
  for (const std::uint64_t size : {8u, 8u, 8u, 16u, 16u, 16u, 32u, 32u, 32u, 32u}) {
    examples += size;
    CHECK(loop.step(task.train()).examples == examples);
  }

  // Saved in the middle of the growth.
  const TemporaryFile file;
  auto first = make(), second = make();
  for (int i = 0; i < 5; ++i) first.step(task.train());
  save_checkpoint(file.path(), first);
  second.start(task.train());
  load_checkpoint(file.path(), second);
  for (int i = 0; i < 5; ++i) second.step(task.train());
  CHECK(same_values(second, loop));
}
