// Parses Google Benchmark's JSON with a parser that does not accept infinity.
#include <doctest/doctest.h>

#include <algoperf/benchmark/time_to_target.hpp>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "../loop/tiny.hpp"

using namespace algoperf;
using algoperf::testing::Tiny;

namespace {

// A metric with the same value for every example.
struct Same {
  static constexpr const char* name = "same";
  static constexpr bool lower_is_better = true;
  double value;
  template <class B, class S>
  void write(const B& backend, std::size_t batch, std::size_t, const S*, const std::int32_t*, S* scores) const {
    backend.fill(batch, scores, static_cast<S>(value));
  }
};

// A workload whose target is never reached.
struct Unreachable : Tiny {
  double found = 0.5;
  Same metric() const { return {found}; }
  auto test() const { return validation(); }
  Target target() const { return {-1, true}; }
  std::uint64_t step_hint() const { return 1; }
};

// Returns the JSON report of three trials.
nlohmann::json report_of(const Unreachable& task, double rate) {
  ::benchmark::ClearRegisteredBenchmarks();
  register_time_to_target("t", {.budget = 2}, task, sgd(), Constant{rate}, ShuffledEpochs{.batch = 32})->Repetitions(3);
  std::ostringstream out;
  ::benchmark::JSONReporter reporter;
  reporter.SetOutputStream(&out);
  ::benchmark::RunSpecifiedBenchmarks(&reporter, ".");
  return nlohmann::json::parse(out.str()).at("benchmarks");
}

}  // namespace

TEST_CASE("json: a report of trials that all miss their target is valid JSON") {
  const nlohmann::json runs = report_of({}, 0.05);
  REQUIRE(runs.size() == 3 + 4 + 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(runs[i].at("real_time") == missed_target_seconds);
    CHECK(runs[i].at("time_unit") == "s");
    CHECK(runs[i].at("best_metric") == 0.5);
    CHECK(runs[i].at("label") == "seed " + std::to_string(i + 1) + ", target missed");
  }
  for (std::size_t i = 3; i < runs.size(); ++i) {
    const nlohmann::json& run = runs[i];
    const std::string statistic = run.at("aggregate_name");
    CAPTURE(statistic);
    CHECK(run.contains("seed") == false);
    const bool zero = statistic == "stddev" || statistic == "cv" || statistic == "reached";
    CHECK(run.at("real_time") == (zero ? 0 : missed_target_seconds));
  }
}

TEST_CASE("json: any metric value and any outcome of a trial gives valid JSON") {
  for (const double found : {0.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    CAPTURE(found);
    Unreachable task;
    task.found = found;
    const nlohmann::json runs = report_of(task, 0.05);
    REQUIRE(runs.size() == 10);
    CHECK(runs[0].contains("best_metric") == (found == 0));
    CHECK(runs[0].at("steps") == 2);
  }
  const nlohmann::json diverged = report_of({}, 1e30);
  REQUIRE(diverged.size() == 10);
  CHECK(diverged[0].at("real_time") == missed_target_seconds);
  CHECK(diverged[0].at("label").get<std::string>().find("seed 1, ") == 0);
}
