#include "algoperf/scoring/standings.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace ap = algoperf;

namespace {

ap::TrialLog log_of(const char* submission, const char* workload, double seconds, double metric,
                    double examples = NAN) {
  return {.submission = submission,
          .workload = workload,
          .evaluations = {{.step = 2, .seconds = seconds, .metric = metric, .examples = examples}},
          .training_seconds = seconds,
          .evaluation_seconds = seconds};
}

const ap::Suite two{.name = "two", .workloads = {{"x", "x", "error", {0.5, true}}, {"y", "y", "error", {0.5, true}}}};

}  // namespace

TEST_CASE("standings: order by score, then by the geometric mean of the times") {
  const std::vector<ap::TrialLog> logs{log_of("slow", "x", 50, 0.1),   log_of("slow", "y", 50, 0.1),
                                       log_of("slower", "x", 60, 0.1), log_of("slower", "y", 60, 0.1),
                                       log_of("fast", "x", 10, 0.1),   log_of("fast", "y", 10, 0.1)};
  const ap::Standings found = ap::rank_submissions(two, logs, {}, {.samples = 10});
  CHECK(found.order == std::vector<std::size_t>{2, 0, 1});  // slow and slower both score 0
  CHECK(found.scores == std::vector<double>{0, 0, 1});
  CHECK(found.bootstrap.winner_share[2] == doctest::Approx(1));
  CHECK(found.step_times.at(2, 0) == 5);
  CHECK(found.evaluation_shares.at(1, 1) == 0.5);
}

TEST_CASE("standings: rules for variants apply to the score, and not to the times") {
  ap::Suite suite = two;
  suite.workloads[1].base = "x";
  const std::vector<ap::TrialLog> logs{log_of("a", "x", 10, 0.1), log_of("a", "y", 10, 0.6), log_of("b", "x", 20, 0.1),
                                       log_of("b", "y", 20, 0.1)};
  const ap::Standings found = ap::rank_submissions(suite, logs, {}, {.samples = 10});
  CHECK(found.times.at(0, 0) == 10);
  CHECK(std::isinf(found.counted.at(0, 0)));
  CHECK(found.scores == std::vector<double>{0, 1});
}

TEST_CASE("standings: on the clock of examples, which logs must have") {
  const std::vector<ap::TrialLog> logs{log_of("a", "x", 10, 0.1, 300), log_of("b", "x", 20, 0.1, 100)};
  const ap::Standings found = ap::rank_submissions(two, logs, {.clock = ap::Clock::examples}, {.samples = 10});
  CHECK(found.times.at(0, 0) == 300);
  CHECK(found.order.front() == 1);
  CHECK_THROWS_WITH_AS(ap::rank_submissions(two, logs, {.clock = ap::Clock::flops}),
                       "two: the logs of a on x do not have the chosen clock", ap::Error);
}
