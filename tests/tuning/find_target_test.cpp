#include "algoperf/tuning/find_target.hpp"

#include <doctest/doctest.h>

#include <algoperf/algoperf.hpp>
#include <algorithm>
#include <string>

#include "../support/folder.hpp"
#include "../support/sentence.hpp"
#include "small_study.hpp"

namespace ap = algoperf;

TEST_CASE("a target is the median of the best point's metrics over seeds") {
  const Folder folder;
  const auto entries = ap::study_entries(SmallDigits{}, SgdSubmission{}, HeavyBallSubmission{});
  const ap::TargetOptions options{
      .points = 3, .seeds = 3, .trial = {.steps = 20, .evaluate_every = 5}, .jobs = 2, .folder = folder / "t"};
  const ap::FoundTarget found = ap::find_target(entries, options);
  REQUIRE(found.metrics.size() == 3);
  std::vector<double> sorted = found.metrics;
  std::sort(sorted.begin(), sorted.end());
  CHECK(found.target == ap::Target{sorted[1], true});
  // The winner's point is the best of all points of both submissions, by a search of one's own.
  double least = 2;
  std::string winner;
  for (const ap::StudyEntry& entry : entries)
    for (const ap::HyperPoint& point : ap::search_points(entry.space, 3, 1)) {
      const ap::TrialResult trial = entry.run(
          point, {.seed = ap::RandomKey{1}.fold(0).value, .steps = 20, .evaluate_every = 5, .stop_at_target = false});
      for (const ap::EvaluationReport& e : trial.evaluations)
        if (e.metric < least) least = e.metric, winner = entry.submission + std::to_string(point["rate"]);
    }
  CHECK(found.submission + std::to_string(found.point["rate"]) == winner);
  // The journals continue a search that was killed.
  const std::string journal = bytes_of(folder / "t/small_digits_sgd.jsonl");
  CHECK(ap::find_target(entries, options).metrics == found.metrics);
  CHECK(bytes_of(folder / "t/small_digits_sgd.jsonl") == journal);
  // Another best point has other runs, and other budgets are refused.
  ap::TargetOptions more = options;
  more.points = 12;
  const ap::FoundTarget better = ap::find_target(entries, more);
  REQUIRE(better.point["rate"] != found.point["rate"]);
  ap::TargetOptions fresh = more;
  fresh.folder = {};
  CHECK(better.metrics == ap::find_target(entries, fresh).metrics);
  more.trial.steps = 21;
  CHECK(sentence([&] { ap::find_target(entries, more); }).find("settings.function is") != std::string::npos);
}

TEST_CASE("by default, a target is what 0.75 of the budget reaches") {
  struct ToZero : SgdSubmission {
    auto schedule(const ap::HyperPoint& point, const ap::WorkloadFacts& facts) const {
      return ap::Linear{.from = point["rate"], .to = 0, .steps = facts.step_hint};
    }
  };
  const auto entries = ap::study_entries(SmallDigits{}, ToZero{});
  const ap::FoundTarget found = ap::find_target(entries, {.points = 2, .seeds = 1});
  const ap::TrialResult trial = entries[0].run(found.point, {.seed = ap::RandomKey{1}.fold(1).value,
                                                             .steps = 30,  // of 40
                                                             .step_hint_factor = 0.75,
                                                             .stop_at_target = false});
  double least = 1;
  for (const ap::EvaluationReport& e : trial.evaluations) least = std::min(least, e.metric);
  CHECK(found.target.value == least);
}

TEST_CASE("find_target refuses entries of two workloads, and none") {
  auto entries = ap::study_entries(SmallDigits{}, SgdSubmission{}, HeavyBallSubmission{});
  entries[1].workload.name = "other";
  CHECK(sentence([&] { ap::find_target(entries); }) ==
        "find_target: the entries have the workloads 'small_digits' and 'other', expected one");
  CHECK(sentence([] { ap::find_target({}); }) == "find_target: there is no entry");
  CHECK(sentence([&] { ap::find_target(entries, {.points = 0}); }) ==
        "TargetOptions: points is 0, expected at least 1");
}
