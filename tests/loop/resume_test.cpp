// A run that is stopped, saved and resumed by a new loop object gives the same bits as an uninterrupted run.
#include <doctest/doctest.h>

#include <cmath>

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

TEST_CASE("resume: schedule-free AdamW keeps the largest learning rate so far, which weighs its averages") {
  check_resume(ShuffledEpochs{.batch = 30}, schedule_free_adamw(), SingleWorker{}, 1);
}

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

TEST_CASE("a checkpoint of a run with other settings is refused, unless any are allowed") {
  const Tiny task;
  const TemporaryFile file;
  const std::string& path = file.path();
  const auto run = [&](const auto& rule, const auto& schedule, std::uint64_t seed, CheckpointOptions options,
                       std::uint64_t steps) {
    options.announce = false;
    TrainingLoop loop(task.model(), task.loss(), rule, schedule, ShuffledEpochs{.batch = 32}, Seed{seed});
    return loop.run(task.train(), Checkpoints(path, options), UntilStep{steps});
  };
  const auto error = [&](const auto& rule, const auto& schedule, std::uint64_t seed) {
    return sentence([&] { run(rule, schedule, seed, {}, 9); });
  };
  const std::string hint = "; to continue regardless, pass Checkpoints(path, {.resume = Resume::any})";
  const RunReport first = run(momentum(), Constant{0.1}, 1, {}, 4);
  CHECK(first.resumed_from.empty());
  CHECK(first.resumed_at == 0);
  CHECK(error(momentum({.mu = 0.8}), Constant{0.1}, 1) ==
        path + ": option 1 of Momentum, in the order of their declaration, was 0.9, now it is 0.8" + hint);
  CHECK(error(momentum(), Constant{0.2}, 1) ==
        path + ": option 1 of Constant, in the order of their declaration, was 0.1, now it is 0.2" + hint);
  CHECK(error(momentum(), Linear{.from = 0.1, .to = 0.1, .steps = 9}, 1) ==
        path + ": the schedule had 1 options, now it has 4" + hint);
  CHECK(error(momentum(), Constant{0.1}, 2) == path + ": the run had Seed{1}, now it has Seed{2}" + hint);

  const RunReport any = run(momentum({.mu = 0.8}), Constant{0.2}, 2, {.resume = Resume::any}, 6);
  CHECK(any.resumed_from == path);
  CHECK(any.resumed_at == 4);
  CHECK(any.last.now.t == 6);
  const RunReport same = run(momentum({.mu = 0.8}), Constant{0.2}, 2, {}, 6);  // a finished file: nothing to train
  CHECK(same.resumed_at == 6);
  CHECK(same.warnings.empty());

  const WarningsIgnored ignored;
  const auto lambda = [](std::uint64_t) { return 0.1; };
  run(momentum(), lambda, 1, {.resume = Resume::never}, 2);
  const RunReport unknown = run(momentum(), lambda, 1, {}, 3);
  REQUIRE(unknown.warnings.size() == 1);
  CHECK(unknown.warnings[0] ==
        path + ": the schedule is of a type of your own, so its options were not compared with the saved run's");
  CHECK(run(momentum(), lambda, 1, {.resume = Resume::any}, 4).warnings.empty());
}

TEST_CASE("a checkpoint of a run with other options of the combiner is refused, unless any are allowed") {
  const Tiny task;
  const TemporaryFile file;
  const auto run = [&](const auto& combiner, Resume resume, std::uint64_t steps) {
    TrainingLoop loop(task.model(), task.loss(), momentum(), Constant{0.1}, ShuffledEpochs{.batch = 32}, combiner,
                      InProcess{.workers = 4});
    return loop.run(task.train(), Checkpoints(file.path(), {.resume = resume, .announce = false}), UntilStep{steps});
  };
  const auto error = [&](const auto& combiner) {
    return sentence([&] { run(combiner, Resume::if_same_settings, 4); });
  };
  const std::string hint = "; to continue regardless, pass Checkpoints(path, {.resume = Resume::any})";
  run(Adasum<>{}, Resume::if_same_settings, 2);
  CHECK(error(Adasum<>{.per_node = 2}) ==
        file.path() + ": option 1 of Adasum, in the order of their declaration, was 1, now it is 2" + hint);
  CHECK(error(Mean{}) == file.path() + ": the combiner had 2 options, now it has 0" + hint);
  CHECK(run(Adasum<>{.per_node = 2}, Resume::any, 3).resumed_at == 2);
  CHECK(run(Adasum<>{.per_node = 2}, Resume::if_same_settings, 4).resumed_at == 3);
}

namespace {

// A schedule with an option that is not a number unless it is set.
struct LimitedRate {
  double limit = NAN;
  double operator()(std::uint64_t) const { return limit < 0.1 ? limit : 0.1; }
  template <class F>
  void visit_options(F& f) const {
    f(limit);
  }
};

}  // namespace

TEST_CASE("an option that is not a number is the same as before if it was not a number") {
  const Tiny task;
  const TemporaryFile file;
  const auto run = [&](const LimitedRate& schedule, std::uint64_t steps) {
    auto loop = TrainingLoop(task.model(), task.loss(), momentum(), schedule, ShuffledEpochs{.batch = 32});
    return loop.run(task.train(), Checkpoints(file.path(), {.announce = false}), UntilStep{steps}).last.now.t;
  };
  CHECK(run({}, 2) == 2);
  CHECK(run({}, 4) == 4);
  const std::string hint = "; to continue regardless, pass Checkpoints(path, {.resume = Resume::any})";
  CHECK(sentence([&] { run({.limit = 0.5}, 6); }) ==
        file.path() + ": option 1 of LimitedRate, in the order of their declaration, was nan, now it is 0.5" + hint);
}

TEST_CASE("a run saves every 1000 steps unless told otherwise") { CHECK(CheckpointOptions{}.every == 1000); }

TEST_CASE("a checkpoint without settings, of an earlier version, is resumed") {
  const Tiny task;
  const TemporaryFile file;
  auto loop = tiny_loop(momentum(), 0.1);
  for (int i = 0; i < 3; ++i) loop.step(task.train());
  save_checkpoint(file.path(), loop);  // the state alone
  auto other = tiny_loop(momentum({.mu = 0.5}), 0.2);
  const RunReport report = other.run(task.train(), Checkpoints(file.path(), {.announce = false}), UntilStep{3});
  CHECK(report.resumed_at == 3);
  CHECK(same_values(other, loop));
}

TEST_CASE("the time spent on evaluations is resumed") {
  const Tiny task;
  const TemporaryFile file;
  auto loop = tiny_loop(momentum(), 0.1);
  const Evaluate evaluate(task, {.every = 2});
  loop.run(task.train(), evaluate, Checkpoints(file.path()), UntilStep{4});
  CHECK(loop.evaluation_seconds() > 0);
  auto resumed = tiny_loop(momentum(), 0.1);
  const RunReport report =
      resumed.run(task.train(), evaluate, Checkpoints(file.path(), {.announce = false}), UntilStep{4});
  CHECK(resumed.evaluation_seconds() == loop.evaluation_seconds());
  CHECK(report.evaluation_seconds == loop.evaluation_seconds());
}
