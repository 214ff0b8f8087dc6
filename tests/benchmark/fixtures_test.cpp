// The fixtures, run by Google Benchmark into a reporter that keeps what it is told.
#include <doctest/doctest.h>

#include <algoperf/benchmark/all.hpp>
#include <cmath>
#include <map>

#include "../loop/tiny.hpp"
#include "../support/near.hpp"

using namespace algoperf;
using algoperf::testing::Tiny;

namespace {

struct TinyWorkload : Tiny {
  double error = 0.55;
  std::uint64_t hint = 100;
  auto test() const { return validation(); }
  Target target() const { return {error, true}; }
  std::uint64_t step_hint() const { return hint; }
};

class Keeper : public ::benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override { all.insert(all.end(), runs.begin(), runs.end()); }
  std::vector<Run> all;

  std::vector<Run> trials() const {
    std::vector<Run> found;
    for (const Run& run : all)
      if (run.run_type == Run::RT_Iteration) found.push_back(run);
    return found;
  }
  // The time of an aggregate.
  double time(const std::string& aggregate) const {
    for (const Run& run : all)
      if (run.aggregate_name == aggregate) return run.GetAdjustedRealTime();
    return -1;
  }
};

// Runs what register_all() registers, and nothing else.
template <class Register>
Keeper run(const Register& register_all) {
  ::benchmark::ClearRegisteredBenchmarks();
  register_all();
  Keeper keeper;
  ::benchmark::RunSpecifiedBenchmarks(&keeper, ".");
  return keeper;
}

const Constant rate{0.05};
const ShuffledEpochs batches{.batch = 32};

}  // namespace

TEST_CASE("names are what is written, without what goes without saying") {
  CHECK(detail::readable_name("step", "ap::adamw(), algoperf::Host<>{}, 1 << 20") == "step/adamw/Host<>/1<<20");
  CHECK(detail::readable_name("step", "ap::chain(ap::Adam{.beta1 = 0.8, .eps = 1}, ap::Descend{}), 4") ==
        "step/chain(Adam{.beta1=0.8,.eps=1},Descend{})/4");
  const Keeper keeper = run([] {
    detail::register_step_on("ignored", "my own, ap::name", sgd(), Host<>{}, 64);
    detail::register_step_on("sgd(), Host<>{}, 64", sgd(), Host<>{}, 64);
  });
  REQUIRE(keeper.trials().size() == 2);
  CHECK(keeper.trials()[0].run_name.function_name == "optimizer_step/my own, ap::name");
  CHECK(keeper.trials()[1].run_name.function_name == "optimizer_step/sgd/Host<>/64");
}

TEST_CASE("a step moves its bytes, on all tensors") {
  const Keeper keeper = run([] {
    detail::register_step_on("", adamw(), Host<>{}, 1000, Shape{30, 20})->Iterations(50);
    detail::register_step_on("", sam(sgd()), Host<>{}, Shape{30, 20})->Iterations(5);
    detail::register_step_on("", partition(matrices, muon(), otherwise, adamw()), Host<>{}, 7, Shape{30, 20})
        ->Iterations(5);
  });
  const auto trials = keeper.trials();
  REQUIRE(trials.size() == 3);
  const auto& adamw_run = trials[0];
  CHECK(!adamw_run.error_occurred);
  CHECK(adamw_run.iterations == 50);
  CHECK(adamw_run.counters.at("parameters") == 1600);
  const double seconds = adamw_run.real_accumulated_time;
  CHECK(adamw_run.counters.at("bytes_per_second") * seconds == near(50.0 * 1600 * 28));
  CHECK(trials[1].counters.at("parameters") == 600);
  CHECK(trials[2].counters.at("parameters") == 607);
}

TEST_CASE("trials train from seeds 1, 2, ..., each as the loop alone would, and report their training seconds") {
  const TinyWorkload task;
  const TimeToTargetOptions options{.budget = 200, .every = 4};
  const Keeper keeper =
      run([&] { register_time_to_target("t", options, task, momentum(), rate, batches)->Repetitions(3); });
  const auto trials = keeper.trials();
  REQUIRE(trials.size() == 3);
  std::map<double, int> steps;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::uint64_t seed = i + 1;
    TrainingLoop loop(task.model(), task.loss(), momentum(), rate, ShuffledEpochs{.batch = 32, .seed = seed},
                      Seed{seed});
    std::vector<EvaluationReport> evaluations;
    const RunReport own = loop.run(task.train(), Evaluate(task, {.every = 4}), History{evaluations},
                                   UntilTarget{task.target()}, UntilStep{200});
    REQUIRE(own.target_reached());
    const auto& counters = trials[i].counters;
    CHECK(counters.at("seed") == seed);
    CHECK(counters.at("steps") == own.last.now.t);
    CHECK(counters.at("examples") == own.last.examples);
    CHECK(counters.at("evaluations") == evaluations.size());
    CHECK(counters.at("best_metric") == own.best.metric);
    CHECK(counters.at("target_reached") == 1);
    CHECK(counters.at("evaluation_seconds") > 0);
    CHECK(trials[i].GetAdjustedRealTime() > 0);
    ++steps[counters.at("steps")];
  }
  CHECK(steps.size() > 1);  // seeds differ
  std::vector<double> times;
  for (const auto& trial : trials) times.push_back(trial.GetAdjustedRealTime());
  std::sort(times.begin(), times.end());
  CHECK(keeper.time("min") == times[0]);
  CHECK(keeper.time("median") == times[1]);
  CHECK(keeper.time("max") == times[2]);
}

TEST_CASE("a trial that misses its target, or diverges, takes for ever") {
  TinyWorkload task;
  task.error = -1;
  const Keeper keeper = run([&] {
    register_time_to_target("missed", {.budget = 8}, task, sgd(), rate, batches)->Repetitions(2);
    register_time_to_target("diverged", {.budget = 8}, task, sgd(), Constant{1e30}, batches)->Repetitions(1);
    register_time_to_target("by itself", {}, task, sgd(), rate, batches)->Repetitions(1);
  });
  const auto trials = keeper.trials();
  REQUIRE(trials.size() == 4);
  for (const auto& trial : trials) {
    CHECK(std::isinf(trial.GetAdjustedRealTime()));
    CHECK(trial.counters.at("target_reached") == 0);
    CHECK(!trial.error_occurred);
  }
  CHECK(std::isinf(keeper.time("median")));
  CHECK(trials[0].counters.at("steps") == 8);
  CHECK(trials[2].counters.at("steps") < 8);
  CHECK(trials[2].report_label.find("not finite") != std::string::npos);
  CHECK(trials[3].counters.at("steps") == 300);  // three times the hint
  CHECK(trials[3].counters.at("evaluations") == 100);
}

TEST_CASE("what cannot run says why, and stops nobody else") {
  const Keeper keeper = run([] {
    register_time_to_target("bad", {}, TinyWorkload{}, adamw({.beta1 = 2}), rate, batches)->Repetitions(1);
    detail::register_step_on("", adamw({.beta1 = 2}), Host<>{}, 10);
    detail::register_step_on("", adamw(), Host<>{}, 10)->Iterations(1);
  });
  const auto trials = keeper.trials();
  REQUIRE(trials.size() == 3);
  CHECK(trials[0].error_occurred);
  CHECK(trials[0].error_message.find("beta1 is 2") != std::string::npos);
  CHECK(trials[1].error_occurred);
  CHECK(trials[1].error_message.find("beta1 is 2") != std::string::npos);
  CHECK(!trials[2].error_occurred);
}
