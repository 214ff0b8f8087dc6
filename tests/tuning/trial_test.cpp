#include "algoperf/tuning/trial.hpp"

#include <doctest/doctest.h>

#include <algoperf/algoperf.hpp>
#include <algoperf/workloads/concept.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "../loop/tiny.hpp"
#include "../support/near.hpp"
#include "../support/sentence.hpp"

namespace ap = algoperf;

namespace {

// A few hundred digits, learnt in milliseconds.
struct TinyWorkload : ap::testing::Tiny {
  static constexpr const char* name = "tiny";
  double target_error = 0.6;

  auto test() const { return all.subset(256, 320); }
  ap::Target target() const { return {target_error, true}; }
  std::uint64_t step_hint() const { return 100; }
};
static_assert(ap::Workload<TinyWorkload>);

struct HeavyBall {
  static constexpr const char* name = "heavy_ball";
  ap::SearchSpace search_space() const {
    return ap::SearchSpace(std::vector<ap::Hyperparameter>{
        {.name = "rate", .min = 1e-3, .max = 1, .scaling = ap::Scaling::log}, {.name = "mu", .feasible = {0.9}}});
  }
  auto rule(const ap::HyperPoint& point, const ap::WorkloadFacts&) const { return ap::momentum({.mu = point["mu"]}); }
  auto schedule(const ap::HyperPoint& point, const ap::WorkloadFacts&) const { return ap::Constant{point["rate"]}; }
  std::size_t batch_size(const ap::WorkloadFacts&) const { return 32; }
};
static_assert(ap::Submission<HeavyBall>);

const ap::HyperPoint good{{"rate", 0.05}, {"mu", 0.9}};

struct SeenClock {
  std::vector<ap::TrialClock> steps, evaluations;
};

// Records the clock; stops at a step.
struct Watched : HeavyBall {
  SeenClock* seen = nullptr;
  std::uint64_t stop_at = 1000;
  struct Observer {
    SeenClock* seen;
    std::uint64_t stop_at;
    template <class Loop>
    ap::Control after_step(Loop&, const ap::TrialClock& clock) {
      seen->steps.push_back(clock);
      return clock.step.now.t >= stop_at ? ap::Control::budget_spent : ap::Control::go_on;
    }
    template <class Loop>
    void before_evaluation(Loop& loop, const ap::TrialClock& clock) {
      const ap::Stopwatch watch;
      while (watch.seconds() < 0.002) {
      }
      CHECK(loop.steps() == clock.step.now.t);
      seen->evaluations.push_back(clock);
    }
  };
  Observer observer(const ap::HyperPoint&, const ap::WorkloadFacts&) const { return {seen, stop_at}; }
};

}  // namespace

TEST_CASE("facts of a workload") {
  const ap::WorkloadFacts facts = ap::facts_of(TinyWorkload{});
  CHECK(facts.name == "tiny");
  CHECK(facts.step_hint == 100);
  CHECK(facts.examples == 256);
  CHECK(facts.batch_size == 128);
  CHECK(facts.loss == ap::LossKind::softmax_cross_entropy);
  CHECK(facts.layout.tensors().size() == 4);
  CHECK(facts.layout.size() >= 784 * 12 + 12 + 120 + 10);
}

TEST_CASE("the batch size is the workload's") {
  struct Large : TinyWorkload {
    std::size_t batch_size() const { return 64; }
  };
  CHECK(ap::facts_of(Large{}).batch_size == 64);
}

TEST_CASE("each evaluation records examples and FLOPs, with growing batches and second gradients") {
  struct Growing : HeavyBall {
    auto rule(const ap::HyperPoint&, const ap::WorkloadFacts&) const { return ap::sam(ap::sgd()); }
    auto selector(const ap::HyperPoint&, const ap::WorkloadFacts&, std::uint64_t) const {
      return ap::scheduled_batch(ap::WithReplacement{.batch = 8}, [](std::uint64_t t) { return t < 10 ? 4 : 8; });
    }
  };
  const ap::TrialResult found =
      ap::run_trial(TinyWorkload{}, Growing{}, good, {.steps = 20, .evaluate_every = 10, .stop_at_target = false});
  const double one = static_cast<double>(TinyWorkload::model().cost().flops());
  REQUIRE(found.evaluations.size() == 3);
  const double examples[] = {4, 40, 120};
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(static_cast<double>(found.evaluations[i].examples) == examples[i]);
    CHECK(found.evaluations[i].flops == near(2 * examples[i] * one, 1e-12));
  }
  CHECK(found.flops == found.evaluations.back().flops);
}

// The first layer multiplies the table once per batch.
TEST_CASE("the FLOPs per example are those of a batch, divided by its size") {
  const ap::LstmLanguageModel model{.vocabulary = 5, .context = 3, .width = 2, .units = 4};
  const auto data = TinyWorkload{}.train();  // without ragged axes
  const double of_eight = ap::detail::flops_per_example(model, data, 8);
  CHECK(8 * of_eight == near(static_cast<double>(ap::model_cost(model, {}, 8).flops()), 1e-12));
  CHECK(of_eight < ap::detail::flops_per_example(model, data, 1));
}

TEST_CASE("a trial stops at the target and records its clocks") {
  const ap::TrialResult found = ap::run_trial(TinyWorkload{}, HeavyBall{}, good, {.seed = 3, .evaluate_every = 10});
  CHECK(found.reached);
  CHECK(found.failure.empty());
  REQUIRE(found.evaluations.size() >= 2);
  CHECK(found.evaluations[0].step == 1);
  CHECK(found.evaluations[1].step == 10);
  CHECK(found.evaluations.back().step == found.steps);
  CHECK(found.evaluations.back().metric <= 0.6);
  for (std::size_t i = 0; i + 1 < found.evaluations.size(); ++i) CHECK(found.evaluations[i].metric > 0.6);
  CHECK(found.examples == 32 * found.steps);
  CHECK(found.flops == near(static_cast<double>(found.examples * TinyWorkload::model().cost().flops()), 1e-12));
  CHECK(found.first_step_seconds > 0);
  CHECK(found.training_seconds >= found.evaluations.back().training_seconds);
  CHECK(found.evaluation_seconds > 0);
  CHECK(found.total_seconds >= found.training_seconds + found.evaluation_seconds);

  const ap::TrialResult past =
      ap::run_trial(TinyWorkload{}, HeavyBall{}, good, {.seed = 3, .evaluate_every = 10, .stop_at_target = false});
  CHECK(past.reached);
  CHECK(past.steps == 100);  // the step hint
  CHECK(past.steps > found.steps);
}

TEST_CASE("trials of one seed have the same evaluations, and other seeds have others") {
  const auto metrics = [](std::uint64_t seed) {
    std::vector<double> losses;
    const ap::TrialOptions options{.seed = seed, .steps = 30, .evaluate_every = 10, .stop_at_target = false};
    for (const ap::EvaluationReport& evaluation : ap::run_trial(TinyWorkload{}, HeavyBall{}, good, options).evaluations)
      losses.push_back(evaluation.loss);
    return losses;
  };
  CHECK(metrics(1).size() == 4);  // after steps 1, 10, 20 and 30
  CHECK(metrics(1) == metrics(1));
  CHECK(metrics(1) != metrics(2));
}

TEST_CASE("a trial ends with its budget of steps or seconds, by default at the step hint") {
  TinyWorkload hard;
  hard.target_error = -1;
  const ap::TrialResult found = ap::run_trial(hard, HeavyBall{}, good);
  CHECK(found.steps == 100);
  CHECK_FALSE(found.reached);
  CHECK(found.evaluations.size() == 21);  // after step 1, then every fifth
  const ap::TrialResult brief = ap::run_trial(hard, HeavyBall{}, good, {.steps = 100000, .seconds = 0.01});
  CHECK(brief.steps < 100000);
  CHECK(brief.training_seconds >= 0.01);
}

TEST_CASE("step_hint_factor multiplies the step hint of the submission, but not the budget") {
  struct ToZero : HeavyBall {
    auto schedule(const ap::HyperPoint&, const ap::WorkloadFacts& facts) const {
      return ap::Linear{.from = 0.05, .to = 0, .steps = facts.step_hint};
    }
  };
  TinyWorkload hard;
  hard.target_error = -1;
  const ap::TrialResult found = ap::run_trial(hard, ToZero{}, good, {.step_hint_factor = 0.55, .evaluate_every = 10});
  CHECK(found.steps == 100);
  REQUIRE(found.evaluations.size() == 11);
  CHECK(found.evaluations[5].loss != found.evaluations[6].loss);  // steps 50 and 60
  for (std::size_t i = 7; i < 11; ++i) CHECK(found.evaluations[i].loss == found.evaluations[6].loss);
}

TEST_CASE("a trial that diverges is recorded") {
  const ap::TrialResult found = ap::run_trial(TinyWorkload{}, HeavyBall{}, {{"rate", 1e30}, {"mu", 0.9}});
  CHECK(found.failure.find("not finite") != std::string::npos);
  CHECK_FALSE(found.reached);
  CHECK(found.evaluations.size() >= 1);
}

TEST_CASE("a submission's observer sees the clock, knows of evaluations, and can stop") {
  SeenClock seen;
  Watched watched;
  watched.seen = &seen;
  TinyWorkload hard;
  hard.target_error = -1;
  const ap::TrialResult found =
      ap::run_trial(hard, watched, good, {.steps = 25, .seconds = 1000, .evaluate_every = 10});
  REQUIRE(seen.steps.size() == 25);
  REQUIRE(seen.evaluations.size() == 4);  // before the evaluations after steps 1, 10, 20 and 25
  for (const ap::TrialClock& clock : seen.steps) {
    const std::uint64_t t = clock.step.now.t;
    CHECK(clock.steps_left == 25 - t);
    CHECK(clock.seconds_left == near(1000 - clock.step.training_seconds, 1e-9));
    CHECK(clock.evaluation_next == (t == 9 || t == 19 || t == 24));
  }
  CHECK(seen.evaluations[1].step.now.t == 10);
  // What the observer does counts as training: 2 ms before each evaluation.
  CHECK(found.evaluations.back().training_seconds >= 0.008);

  seen = {};
  watched.stop_at = 7;
  CHECK(ap::run_trial(hard, watched, good).steps == 7);
}

TEST_CASE("a trial may have another batch size, whose budget is then the step hint") {
  struct ToZero : HeavyBall {
    std::size_t* seen_batch;
    std::uint64_t* seen_hint;
    auto schedule(const ap::HyperPoint&, const ap::WorkloadFacts& facts) const {
      *seen_batch = facts.batch_size, *seen_hint = facts.step_hint;
      return ap::Constant{0.05};
    }
  };
  std::size_t batch = 0;
  std::uint64_t hint = 0;
  const ToZero submission{{}, &batch, &hint};
  const ap::TrialResult found =
      ap::run_trial(TinyWorkload{}, submission, good, {.steps = 32, .batch_size = 8, .stop_at_target = false});
  CHECK(found.examples == 32 * 8);
  CHECK(batch == 8);
  CHECK(hint == 32);

  struct OwnSelector : HeavyBall {
    auto selector(const ap::HyperPoint&, const ap::WorkloadFacts&, std::uint64_t) const {
      return ap::WithReplacement{.batch = 16};
    }
  };
  CHECK(ap::run_trial(TinyWorkload{}, OwnSelector{}, good, {.steps = 2, .batch_size = 16}).examples == 32);
  CHECK(sentence([] { (void)ap::run_trial(TinyWorkload{}, OwnSelector{}, good, {.steps = 2, .batch_size = 8}); }) ==
        "TrialOptions: batch_size is 8, but the selector of submission 'heavy_ball' has batches of 16");
}

TEST_CASE("evaluations may be at steps that grow by a factor") {
  TinyWorkload hard;
  hard.target_error = -1;
  const auto steps = [&](std::uint64_t budget, std::uint64_t every, double growth) {
    std::vector<std::uint64_t> found;
    const ap::TrialOptions options{.steps = budget, .evaluate_every = every, .evaluate_growth = growth};
    for (const ap::TrialEvaluation& evaluation : ap::run_trial(hard, HeavyBall{}, good, options).evaluations)
      found.push_back(evaluation.step);
    return found;
  };
  CHECK(steps(40, 2, 1.5) == std::vector<std::uint64_t>{1, 2, 4, 6, 10, 16, 24, 36, 40});
  CHECK(steps(36, 2, 1.5) == std::vector<std::uint64_t>{1, 2, 4, 6, 10, 16, 24, 36});
  CHECK(steps(12, 5, 1) == std::vector<std::uint64_t>{1, 5, 10, 12});
  CHECK(sentence([&] { (void)steps(1, 1, 0.5); }) ==
        "TrialOptions: evaluate_growth is 0.5, expected a finite number of at least 1");
}
