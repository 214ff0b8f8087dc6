#include "algoperf/scoring/step_time.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "../support/near.hpp"
#include "../support/sentence.hpp"
#include "algoperf/scoring/speedup.hpp"
#include "algoperf/scoring/time_to_target.hpp"
#include "suites.hpp"

namespace ap = algoperf;

namespace {

ap::TrialLog timed_log(const char* workload, std::uint64_t trial, const std::vector<ap::Evaluation>& evaluations,
                       double training, double evaluation) {
  return {"s", workload, 0, trial, evaluations, training, evaluation};
}

}  // namespace

TEST_CASE("step times and evaluation shares are medians over evaluations and over trials") {
  // Increments of 2, 3, 5 and of 1 second per step; the evaluation without a step between is left out.
  const std::vector<ap::TrialLog> logs = {
      timed_log("a", 1, {{0, 1, 2, 9}, {1, 11, 32, 9}, {2, 11, 33, 9}, {3, 21, 83, 9}}, 83, 17),
      timed_log("a", 2, {{0, 10, 10, 9}}, 10, 30), timed_log("a", 3, {}, NAN, 3),
      timed_log("x", 1, {{0, 1, 1, 9}}, 1, 1)};
  const ap::StudyTimes studies = ap::study_times(suite_of({"a", "b"}), logs);
  CHECK(ap::step_times(studies, logs).at(0, 0) == near(2.5, 1e-15));
  CHECK(ap::evaluation_shares(studies, logs).at(0, 0) == near((0.17 + 0.75) / 2, 1e-15));
  CHECK(std::isnan(ap::step_times(studies, logs).at(0, 1)));
  CHECK(std::isnan(ap::evaluation_shares(studies, logs).at(0, 1)));
}

TEST_CASE("a speedup is a geometric mean over base workloads, in which a miss takes the given time") {
  ap::TimeTable times(suite_of({"a", "b", "b_wide", "c"}), {"s", "t"});
  times.entries = {1, INFINITY, 1, NAN,  //
                   8, 50,       7, 4};
  const std::vector<double> misses = {100, 100, NAN, 16};
  CHECK(ap::geometric_mean_speedup(times, 0, 1, misses) == near(std::cbrt(8 * 0.5 * 0.25), 1e-14));
  CHECK(ap::geometric_mean_speedup(times, 1, 0, misses) == near(1 / std::cbrt(8 * 0.5 * 0.25), 1e-14));
  CHECK(ap::geometric_mean_speedup(times, 1, 1, misses) == 1);
  CHECK(sentence([&] {
          ap::geometric_mean_speedup(times, 0, 1, {1, 2});
        }) == "suite: there are 2 times of misses for 4 workloads");
  CHECK(sentence([&] {
          ap::geometric_mean_speedup(times, 0, 1, {1, 2, 3, NAN});
        }) == "suite: a miss on 'c' counts as nan, expected a positive, finite time");
}
