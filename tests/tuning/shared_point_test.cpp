#include "algoperf/tuning/shared_point.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace ap = algoperf;

namespace {

ap::TrialLog hit_at(const char* workload, std::uint64_t trial, double seconds, double metric = 0) {
  return {
      .submission = "a", .workload = workload, .trial = trial, .evaluations = {{.seconds = seconds, .metric = metric}}};
}

}  // namespace

TEST_CASE("the best shared point has the smallest worst ratio to the times of the best points") {
  const ap::Suite suite{.name = "s", .workloads = {{"x", "x", "error", {0.5, true}}, {"y", "y", "error", {0.5, true}}}};
  std::vector<ap::TrialLog> logs{hit_at("x", 0, 1),        hit_at("y", 0, 9),       hit_at("x", 1, 2),
                                 hit_at("y", 1, 4),        hit_at("x", 2, 8),       hit_at("y", 2, 3),
                                 hit_at("x", 3, 0.1, 0.6), hit_at("y", 3, 0.1, 0.6)};
  ap::SharedPoint best = ap::best_shared_point(suite, logs, "a");
  CHECK(best.trial == 1);
  CHECK(best.ratios == std::vector<double>{2, 4.0 / 3});
  CHECK(best.worst == 2);
  // A point that misses one target is infinitely worse there.
  logs = {hit_at("x", 0, 1), hit_at("y", 0, 9, 0.6)};
  best = ap::best_shared_point(suite, logs, "a");
  CHECK(best.ratios == std::vector<double>{1, INFINITY});
  CHECK(std::isinf(best.worst));
  CHECK(ap::best_shared_point(suite, logs, "b").ratios.empty());
}
