#include "algoperf/tuning/median_rule.hpp"

#include <doctest/doctest.h>

#include <algoperf/algoperf.hpp>
#include <algoperf/core/median.hpp>
#include <algoperf/tuning/tune.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "../loop/tiny.hpp"
#include "../support/folder.hpp"
#include "../support/sentence.hpp"

namespace ap = algoperf;

namespace {

// Points with a height: trial i falls from height + 4 to height in five steps.
ap::SearchSpace heights(const std::vector<double>& values) {
  std::vector<ap::HyperPoint> points;
  for (const double value : values) points.push_back({{"height", value}});
  return ap::SearchSpace(points);
}

double fall(const ap::HyperPoint& point, ap::TrialProgress& progress) {
  const double height = point["height"];
  for (int step = 1; step <= 5; ++step)
    if (progress.report(step, height + 5 - step)) return height + 5 - step;
  return height;
}

}  // namespace

TEST_CASE("median rule: a trial ends when its best is worse than the median of the others' means") {
  ap::detail::SharedReports reports(3, 10);
  const ap::MedianRule rule{.least_trials = 2};
  for (const std::size_t trial : {0u, 1u}) {
    ap::TrialProgress progress(reports, trial, &rule, true);
    for (int step = 1; step <= 3; ++step) CHECK_FALSE(progress.report(step, 10.0 * static_cast<double>(trial) + step));
    reports.end(trial);
  }
  // Up to step 1, the means of trials 0 and 1 are 1 and 11, and their median is 6. Up to step 3, it is 7.
  ap::TrialProgress last(reports, 2, &rule, true);
  CHECK_FALSE(last.report(1, 6));
  CHECK_FALSE(last.report(2, 100));  // its best is still 6
  CHECK_FALSE(last.report(3, 7));
  CHECK_FALSE(last.hopeless());
  ap::detail::SharedReports others(3, 10);
  for (const std::size_t trial : {0u, 1u}) {
    ap::TrialProgress progress(others, trial, nullptr, true);
    CHECK_FALSE(progress.report(1, trial == 0 ? 1 : 11));
    others.end(trial);
  }
  ap::TrialProgress worse(others, 2, &rule, true);
  CHECK(worse.report(1, 6.001));
  CHECK(worse.report(2, 0));  // it stays hopeless
}

TEST_CASE("median rule: not before first_step, nor before least_trials trials have ended") {
  ap::detail::SharedReports reports(3, 10);
  ap::TrialProgress first(reports, 0, nullptr, true);
  first.report(1, 0);
  reports.end(0);
  const ap::MedianRule late{.least_trials = 1, .first_step = 3}, two{.least_trials = 2};
  ap::TrialProgress waits(reports, 1, &late, true), alone(reports, 2, &two, true);
  CHECK_FALSE(waits.report(2, 5));
  CHECK(waits.report(3, 5));
  CHECK_FALSE(alone.report(2, 5));
}

TEST_CASE("median rule: higher may be better, and NaN is the worst value") {
  for (const bool lower : {true, false}) {
    ap::detail::SharedReports reports(3, 10);
    const ap::MedianRule rule{.least_trials = 1};
    ap::TrialProgress first(reports, 0, &rule, lower), good(reports, 1, &rule, lower), lost(reports, 2, &rule, lower);
    first.report(1, 5);
    reports.end(0);
    CHECK_FALSE(good.report(1, lower ? 4 : 6));
    CHECK(lost.report(1, NAN));
  }
}

TEST_CASE("median rule: refused reports and options") {
  ap::detail::SharedReports reports(1, 2);
  ap::TrialProgress progress(reports, 0, nullptr, true);
  progress.report(3, 1);
  CHECK(sentence([&] { progress.report(3, 1); }) == "TrialProgress: trial 0 reported step 3 after step 3");
  progress.report(4, 1);
  CHECK(sentence([&] { progress.report(5, 1); }) ==
        "TrialProgress: trial 0 has more than 2 reports, MedianRule::most_reports");
  CHECK(sentence([] { ap::MedianRule{.least_trials = 0}.check(); }) ==
        "MedianRule: least_trials is 0, expected at least 1");
  CHECK(sentence([] {
          ap::tune(heights({1}), {.trials = 1, .median_rule = ap::MedianRule{}},
                   [](const ap::HyperPoint&) { return 1.0; });
        }) == "tune: median_rule needs a function of a point and of a TrialProgress&, to which it reports");
}

TEST_CASE("a search with a median rule ends hopeless trials, in processes and after a restart") {
  const std::vector<double> values{1, 2, 3, 30, 0.5, 40, -1, 2.5};
  for (const std::size_t jobs : {0u, 1u}) {
    const Folder folder;
    const auto search = [&](std::size_t trials) {
      return ap::tune(
          heights(values),
          {.trials = trials, .jobs = jobs, .journal = folder / "j", .median_rule = ap::MedianRule{.least_trials = 3}},
          fall);
    };
    search(3);  // the rest continues from the journal
    const ap::Tuning found = search(8);
    // At step 1, a trial is at its height plus 4, and so are the means of those that ended.
    std::vector<double> ended;
    std::size_t hopeless = 0;
    for (const ap::TunedTrial& trial : found.trials) {
      const double height = trial.point["height"];
      const bool expected = ended.size() >= 3 && height > ap::median(ended);
      hopeless += expected;
      CHECK(trial.hopeless == expected);
      CHECK(trial.value == (expected ? height + 4 : height));
      if (!expected) ended.push_back(height);
    }
    CHECK(hopeless >= 2);
    const std::string journal = bytes_of(folder / "j");
    for (std::size_t i = 0; i < 8; ++i) CHECK(search(8).trials[i].hopeless == found.trials[i].hopeless);
    CHECK(bytes_of(folder / "j") == journal);
    CHECK(sentence([&] {
            ap::tune(heights(values), {.trials = 8, .journal = folder / "j"}, fall);
          }).find("median_rule") != std::string::npos);
  }
}

TEST_CASE("a trial that fails does not count for the median rule, before and after a restart") {
  const std::vector<double> values{1, 2, 3, 4, 50, 60};
  for (const std::size_t first : {0u, 4u}) {
    const Folder folder;
    const auto search = [&](std::size_t trials) {
      return ap::tune(
          heights(values),
          {.trials = trials, .jobs = 0, .journal = folder / "j", .median_rule = ap::MedianRule{.least_trials = 3}},
          [](const ap::HyperPoint& point, ap::TrialProgress& progress) {
            const double value = fall(point, progress);
            return point["height"] <= 2 ? NAN : value;
          });
    };
    if (first > 0) search(first);
    const ap::Tuning found = search(6);
    std::size_t ended = 0;
    for (const ap::TunedTrial& trial : found.trials) {
      CHECK(trial.hopeless == (ended >= 3 && trial.point["height"] >= 50));
      ended += trial.failure.empty() && !trial.hopeless;
    }
  }
}

TEST_CASE("a hopeless trial is not the best, even if its value is") {
  ap::Tuning found;
  found.trials = {{.trial = 0, .point = {}, .value = 2}, {.trial = 1, .point = {}, .value = 1, .hopeless = true}};
  CHECK(found.best().trial == 0);
}

TEST_CASE("UntilHopeless reports evaluations and ends a training loop") {
  ap::testing::Tiny task;
  ap::detail::SharedReports reports(2, 10);
  const ap::MedianRule rule{.least_trials = 1};
  ap::TrialProgress before(reports, 0, &rule, true), progress(reports, 1, &rule, true);
  before.report(1, 0);  // an error of 0, which the loop does not reach
  reports.end(0);
  ap::TrainingLoop loop(task.model(), task.loss(), ap::sgd(), ap::Constant{1e-3}, ap::ShuffledEpochs{.batch = 32});
  const auto end =
      loop.run(task.train(), ap::Evaluate(task, {.every = 10}), ap::UntilStep{40}, ap::UntilHopeless{progress});
  CHECK(loop.steps() == reports.of(1).front().step);
  CHECK(reports.of(1).size() == 1);
  CHECK(end.reason == ap::Control::budget_spent);
}
