// A run that is stopped, saved and resumed by a new loop object gives the same bits as an uninterrupted run.
#include <doctest/doctest.h>

#include "tiny.hpp"

using namespace algoperf;
using namespace algoperf::testing;

namespace {

constexpr std::uint64_t run_steps = 20;

template <class Selector, class Rule, class Combiner>
void check_resume(const Selector& selector, const Rule& rule, const Combiner& combiner, std::size_t workers) {
  const Tiny task;
  const auto train = task.train().subset(0, 100);  // 100 = 3 * 30 + 10: epochs end within the run
  const auto make = [&] {
    return TrainingLoop(task.model(), task.loss(), rule, WarmupCosine{.peak = 0.02, .warmup = 4, .total = run_steps},
                        selector, combiner, InProcess{workers});
  };
  const Evaluate evaluate(task, {.every = 3, .last = false});  // the whole run has no evaluation at the stop
  auto whole = make();
  const RunReport expected = whole.run(train, evaluate, UntilStep{run_steps});
  RandomStream random(RandomKey{workers + sizeof(Rule)});
  for (int trial = 0; trial < 3; ++trial) {
    const std::uint64_t stop = 1 + random.below(run_steps);  // may be the last step; then no step is left to run
    CAPTURE(stop);
    const TemporaryFile file;
    auto first = make(), second = make();
    first.run(train, evaluate, Checkpoints(file.path(), {.every = stop}), UntilStep{stop});
    const RunReport found =
        second.run(train, evaluate, Checkpoints(file.path(), {.every = 1000}), UntilStep{run_steps});
    CHECK(same_values(second, whole));
    CHECK(same_report(found, expected));
    CHECK(second.evaluate(task.validation(), task.metric()).loss ==
          whole.evaluate(task.validation(), task.metric()).loss);
  }
}

template <class Selector>
void check_rules(const Selector& selector) {
  const auto check = [&](const auto& rule, const auto& combiner) {
    check_resume(selector, rule, SingleWorker{}, 1);
    check_resume(selector, rule, combiner, 3);
  };
  check(adamw(), Adasum<Of::updates>{});
  check(chain(Momentum{}, Descend{}, WeightAverage{.decay = 0.8}), Adasum<Of::gradients>{});
  check(partition(matrices, muon(), otherwise, adamw()), Adasum<Of::updates>{});
  check(sam(momentum()), Adasum<Of::updates>{});
}

}  // namespace

TEST_CASE("resume: shuffled epochs") { check_rules(ShuffledEpochs{.batch = 30}); }

TEST_CASE("resume: sampling with replacement") { check_rules(WithReplacement{.batch = 30}); }

TEST_CASE("resume: sampling proportional to loss") { check_rules(LossProportional{.batch = 30, .memory = 0.3}); }

TEST_CASE("resume: the clocks and the log continue") {
  const Tiny task;
  const TemporaryFile file, csv;
  const auto log_of = [&](std::uint64_t last) {
    auto loop = tiny_loop(momentum(), 0.05);
    loop.run(task.train(), Evaluate(task, {.every = 2}), CsvLog(csv.path()), Checkpoints(file.path(), {.every = 5}),
             UntilStep{last});
    return loop.training_seconds();
  };
  const double half = log_of(5);
  CHECK(log_of(8) > half);
  const std::string log = csv.read();
  for (const char* const row : {"\n2,", "\n4,", "\n6,", "\n8,"}) CHECK(contains(log, row));
}

TEST_CASE("resume: the history continues") {
  const Tiny task;
  const TemporaryFile file;
  for (const std::uint64_t last : {4u, 9u}) {
    std::vector<EvaluationReport> found;
    auto loop = tiny_loop(momentum(), 0.05);
    loop.run(task.train(), Evaluate(task, {.every = 2}), History{found}, Checkpoints(file.path(), {.every = 4}),
             UntilStep{last});
    REQUIRE(found.size() == (last + 1) / 2);
    for (std::size_t i = 0; i < 4 && i < found.size(); ++i) {
      CHECK(found[i].step == 2 * i + 2);
      CHECK(std::string(found[i].metric_name) == "error");
      CHECK(found[i].metric > 0);
      CHECK(found[i].loss > 0);
      CHECK(found[i].training_seconds > 0);
    }
  }
}

TEST_CASE("resume: a run saves a checkpoint at its end, unless it throws") {
  const Tiny task;
  const TemporaryFile file;
  const auto run = [&](double learning_rate, std::uint64_t last) {
    auto loop = tiny_loop(sgd(), learning_rate);
    loop.run(task.train(), Checkpoints(file.path(), {.every = 1000}), UntilStep{last});
    return loop.steps();
  };
  CHECK_THROWS_AS(run(1e30, 50), Diverged);
  CHECK(!file.exists());
  auto loop = tiny_loop(sgd(), 0.1);
  CHECK_THROWS_AS(loop.run(task.train(), Checkpoints(file.path()), UntilStep{5},
                           AfterStep{[](std::uint64_t t) { require(t < 5, "stop"); }}),
                  Error);
  CHECK(!file.exists());
  run(0.1, 5);
  auto resumed = tiny_loop(sgd(), 0.1);
  load_checkpoint(file.path(), resumed);
  CHECK(resumed.steps() == 5);
}

TEST_CASE("resume: a target that was reached stays reached") {
  const Tiny task;
  const TemporaryFile file;
  for (int run = 0; run < 2; ++run) {
    auto loop = tiny_loop(adamw(), 5e-3);
    const RunReport report = loop.run(task.train(), Evaluate(task, {.every = 4}), UntilTarget{{0.6, true}},
                                      Checkpoints(file.path(), {.every = 4}), UntilStep{200});
    CHECK(report.target_reached());
    CHECK(report.best.step == report.last.now.t);
    CHECK(report.best.metric <= 0.6);
    CHECK(loop.steps() == report.last.now.t);
    CHECK(loop.steps() < 200);
  }
}
