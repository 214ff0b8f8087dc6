#include "algoperf/scoring/time_to_target.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "../support/sentence.hpp"
#include "suites.hpp"

namespace ap = algoperf;
using Times = std::vector<double>;

namespace {

ap::TrialLog trial_log(std::uint64_t study, std::uint64_t trial, const std::vector<ap::Evaluation>& evaluations) {
  return {.submission = "s", .workload = "a", .study = study, .trial = trial, .evaluations = evaluations};
}

}  // namespace

TEST_CASE("the first evaluation at the target counts, equality reaches it, and NaN does not") {
  const ap::TrialLog log = trial_log(0, 1, {{0, 1, 10, NAN}, {1, 2, 20, 1.5}, {2, 3, 30, 1}, {3, 4, 40, 0.5}});
  CHECK(ap::first_hit(log, {.value = 1})->index == 2);
  CHECK(ap::first_hit(log, {.value = 1.25, .lower_is_better = false})->index == 1);
  CHECK(ap::first_hit(log, {.value = 1.5, .lower_is_better = false})->index == 1);
  CHECK(ap::first_hit(log, {.value = 0.4}) == nullptr);
}

TEST_CASE("the trial of a study is the fastest by the clock, or the first by the index of its evaluation") {
  const std::vector<ap::TrialLog> logs = {trial_log(0, 1, {{5, 50, 100, 1}}), trial_log(0, 2, {{4, 70, 120, 1}}),
                                          trial_log(0, 3, {{4, 60, 90, 2}, {6, 65, 110, 1}}),
                                          trial_log(0, 4, {{4, 20, 130, 1}})};
  const ap::Suite suite = suite_of({"a"});
  const auto time = [&](ap::Clock clock, ap::TrialChoice choice) {
    return ap::study_times(suite, logs, {clock, choice}).at(0, 0);
  };
  CHECK(time(ap::Clock::time, ap::TrialChoice::fastest) == Times{100});
  CHECK(time(ap::Clock::steps, ap::TrialChoice::fastest) == Times{20});
  CHECK(time(ap::Clock::time, ap::TrialChoice::first_by_index) == Times{120});  // trials 2 and 4 tie; 2 is the first
  CHECK(time(ap::Clock::steps, ap::TrialChoice::first_by_index) == Times{70});
}

TEST_CASE("medians are over the studies that have logs, and a miss is infinite") {
  const ap::Suite suite = suite_of({"a", "b"});
  std::vector<ap::TrialLog> logs = {trial_log(3, 1, {{0, 1, 30, 1}}), trial_log(0, 1, {{0, 1, 10, 1}}),
                                    trial_log(1, 1, {{0, 1, 20, 2}})};
  const auto median_time = [&] { return ap::median_times(ap::study_times(suite, logs)).at(0, 0); };
  CHECK(ap::study_times(suite, logs).at(0, 0) == Times{10, INFINITY, 30});
  CHECK(median_time() == 30);
  logs.push_back(trial_log(2, 1, {{0, 1, 20, 1}}));
  CHECK(median_time() == 25);
  logs.push_back(trial_log(4, 1, {}));
  CHECK(median_time() == 30);
  logs.push_back(trial_log(5, 1, {}));
  CHECK(median_time() == INFINITY);  // the mean of 30 and infinity
  CHECK(std::isnan(ap::median_times(ap::study_times(suite, logs)).at(0, 1)));
  logs.push_back({.submission = "other", .workload = "not in the suite"});
  CHECK(ap::study_times(suite, logs).submissions == std::vector<std::string>{"s"});
}

TEST_CASE("a suite or logs that contradict themselves are refused") {
  const ap::TrialLog log = trial_log(7, 2, {});
  CHECK(sentence([&] {
          ap::study_times(suite_of({"a"}), {log, log});
        }) == "suite: trial 2 of study 7 of s on a has two logs");
  CHECK(sentence([&] { ap::study_times(suite_of({"a", "a"}), {log}); }) == "suite: workload 'a' is listed twice");
  CHECK(sentence([&] {
          ap::study_times(suite_of({"a", "b_wide"}), {log});
        }) == "suite: workload 'b_wide' is a variant of 'b', which is not a base workload of the suite");
  CHECK(sentence([&] { ap::study_times(suite_of({}), {log}); }) == "suite: the suite has no base workload");
  ap::Suite suite = suite_of({"a"});
  suite.workloads[0].target.value = NAN;
  CHECK(sentence([&] { ap::study_times(suite, {log}); }) == "suite: the target of 'a' is NaN");
}
