#include "algoperf/loop/learning_rate_finder.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "../support/near.hpp"
#include "algoperf/rules/recipes/lion.hpp"
#include "tiny.hpp"

using namespace algoperf;
using namespace algoperf::testing;

namespace {

template <class Rule>
LearningRateSweep sweep_of(const Rule& rule, const LearningRateSweepOptions& options = {}) {
  const Tiny task;
  return find_learning_rate(Tiny::model(), Tiny::loss(), rule, ShuffledEpochs{.batch = 32}, task.train(), options);
}

// Trains with a constant rate and returns the loss on the training data; infinite if the training diverged.
template <class Rule>
double loss_after(const Rule& rule, double rate) {
  const Tiny task;
  auto loop = tiny_loop(rule, rate);
  try {
    for (int t = 0; t < 60; ++t) loop.step(task.train());
  } catch (const Diverged&) {
    return INFINITY;
  }
  return loop.evaluate(task.train(), ErrorRate{}).loss;
}

template <class Rule>
void suggests_a_rate(const Rule& rule, double to) {
  const LearningRateSweep sweep = sweep_of(rule, {.to = to});
  CHECK(sweep.diverged);
  CHECK(sweep.points.size() < 200);
  CHECK(sweep.steepest < sweep.lowest);
  const double loss = loss_after(rule, sweep.steepest);
  CHECK(loss < 0.7 * sweep.points[0].loss);
  CHECK(loss < loss_after(rule, sweep.steepest / 100));
  CHECK(loss < loss_after(rule, sweep.steepest * 30));
}

}  // namespace

TEST_CASE("the rates of a sweep grow by a constant factor, and the smoothed loss starts at the first loss") {
  const LearningRateSweep sweep = sweep_of(sgd(), {.from = 1e-3, .to = 1e-1, .steps = 21});
  REQUIRE(sweep.points.size() == 21);
  CHECK(!sweep.diverged);
  CHECK(sweep.points[0].learning_rate == near(1e-3, 1e-12));
  CHECK(sweep.points[10].learning_rate == near(1e-2, 1e-12));
  CHECK(sweep.points[20].learning_rate == near(1e-1, 1e-12));
  CHECK(sweep.points[0].smoothed == near(sweep.points[0].loss, 1e-12));
  CHECK(sweep.points[1].smoothed == near((0.9 * sweep.points[0].loss + sweep.points[1].loss) / 1.9, 1e-12));
}

TEST_CASE("a sweep ends when the loss explodes, and suggests a rate that trains") {
  suggests_a_rate(sgd(), 1000);
  suggests_a_rate(momentum(), 300);
  suggests_a_rate(lion(), 30);
  CHECK(sweep_of(sgd(), {.to = 0.01}).lowest < 0.011);
}

TEST_CASE("the suggested rate is in the middle of the steepest window, from the first whole window after another") {
  for (const double from : {1e-3, 1e-1, 0.5}) {
    CAPTURE(from);
    const LearningRateSweep sweep = sweep_of(sgd(), {.from = from, .to = 2 * from, .steps = 40});  // windows of 2 + 2
    REQUIRE(sweep.points.size() == 40);
    const auto change = [&](std::size_t i) { return sweep.points[i + 2].smoothed - sweep.points[i - 2].smoothed; };
    std::size_t steepest = 4;
    for (std::size_t i = 4; i < 38; ++i)
      if (change(i) < change(steepest)) steepest = i;
    CHECK(sweep.steepest == sweep.points[steepest].learning_rate);
  }
}

TEST_CASE("options of a sweep that are out of range are refused") {
  CHECK(sentence([] { sweep_of(sgd(), {.from = 0}); }) ==
        "LearningRateSweepOptions: the rates are 0 to 10, expected 0 < from < to < inf");
  CHECK(sentence([] { sweep_of(sgd(), {.to = INFINITY}); }) ==
        "LearningRateSweepOptions: the rates are 1e-06 to inf, expected 0 < from < to < inf");
  CHECK(sentence([] { sweep_of(sgd(), {.steps = 3}); }) ==
        "LearningRateSweepOptions: steps is 3, expected at least 10");
  CHECK(sentence([] { sweep_of(sgd(), {.smoothing = 1}); }) ==
        "LearningRateSweepOptions: smoothing is 1, expected [0, 1)");
  CHECK(sentence([] { sweep_of(sgd(), {.stop_at = NAN}); }) ==
        "LearningRateSweepOptions: stop_at is nan, expected more than 1");
}
