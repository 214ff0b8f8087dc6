// Runs the fixtures with a Google Benchmark reporter that records the results.
#include <doctest/doctest.h>

#include <algoperf/benchmark/all.hpp>
#include <algorithm>
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
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const Run& run : trials()) found.push_back(run.benchmark_name());
    return found;
  }
  // Returns the time of an aggregate, or its share if it is a percentage.
  double time(const std::string& aggregate) const {
    for (const Run& run : all)
      if (run.aggregate_name == aggregate)
        return run.aggregate_unit == ::benchmark::kPercentage ? run.real_accumulated_time : run.GetAdjustedRealTime();
    return -1;
  }
};

// Runs only the benchmarks that register_all() registers.
template <class Register>
Keeper run(const Register& register_all, const char* filter = ".") {
  ::benchmark::ClearRegisteredBenchmarks();
  register_all();
  Keeper keeper;
  ::benchmark::RunSpecifiedBenchmarks(&keeper, filter);
  return keeper;
}

const Constant constant_rate{0.05};
const ShuffledEpochs batches{.batch = 32};

}  // namespace

TEST_CASE("names are the arguments as written, without namespaces and empty brackets") {
  CHECK(detail::readable_name("step", "ap::adamw(), algoperf::Host<>{}, 1 << 20") == "step/adamw/Host<>/1<<20");
  CHECK(detail::readable_name("step", "ap::chain(ap::Adam{.beta1 = 0.8, .eps = 1}, ap::Descend{}), 4") ==
        "step/chain(Adam{.beta1=0.8,.eps=1},Descend{})/4");
  CHECK(detail::without_last("f(1, 2), {3, 4}, sizes[0], 5", 2) == "f(1, 2), {3, 4}");
  CHECK(detail::without_last("f(1, 2), {3, 4}", 0) == "f(1, 2), {3, 4}");
  const Keeper keeper = run([] {
    ALGOPERF_OPTIMIZER_STEP("my own, ap::name", sgd(), Host<>{}, 64)->Iterations(1);
    ALGOPERF_OPTIMIZER_STEP(sgd(), Host<>{.threads = 1}, 64, 1 << 7)->Iterations(1);
    ALGOPERF_OPTIMIZER_STEP_ON_TENSORS(sgd(), Host<>{}, 64, Shape{4, 4})->Iterations(1);
  });
  const std::string kind = "optimizer_step/", end = "/iterations:1/real_time";
  CHECK(keeper.names() ==
        std::vector<std::string>{kind + "my own, ap::name/64" + end, kind + "sgd/Host<>{.threads=1}/64" + end,
                                 kind + "sgd/Host<>{.threads=1}/128" + end, kind + "sgd/Host<>/64/Shape{4,4}" + end});
}

TEST_CASE("sizes are Google Benchmark arguments: one benchmark per size, extended by ->Arg and ->Range, filterable") {
  const auto all = [] {
    const std::size_t large = 700;
    detail::register_step<detail::OnSizes>("adamw(), Host<>{}, 100, large", adamw(), Host<>{}, 100, large)
        ->Arg(30)
        ->RangeMultiplier(4)
        ->Range(8, 64)
        ->Iterations(1);
    detail::register_step<detail::OnSizes>("sgd(), Host<>{}, 100", sgd(), Host<>{}, 100)->Iterations(1);
  };
  const auto sizes = [&](const char* filter) {
    std::vector<double> found;
    for (const auto& trial : run(all, filter).trials()) found.push_back(trial.counters.at("parameters"));
    return found;
  };
  CHECK(sizes(".") == std::vector<double>{100, 700, 30, 8, 16, 64, 100});
  CHECK(sizes("adamw") == std::vector<double>{100, 700, 30, 8, 16, 64});
  CHECK(sizes("adamw.*/700/") == std::vector<double>{700});
  CHECK(sizes("/100/") == std::vector<double>{100, 100});
}

TEST_CASE("a step reports its bytes, over all tensors") {
  const Keeper keeper = run([] {
    ALGOPERF_OPTIMIZER_STEP_ON_TENSORS(adamw(), Host<>{}, 1000, Shape{30, 20})->Iterations(50);
    ALGOPERF_OPTIMIZER_STEP_ON_TENSORS(sam(sgd()), Host<>{}, Shape{30, 20})->Iterations(5);
    ALGOPERF_OPTIMIZER_STEP_ON_TENSORS(partition(matrices, muon(), otherwise, adamw()), Host<>{}, 7, Shape{30, 20})
        ->Iterations(5);
    ALGOPERF_OPTIMIZER_STEP(adamw(), Host<>{}, 500)->Iterations(20);
  });
  const auto trials = keeper.trials();
  REQUIRE(trials.size() == 4);
  const auto& adamw_run = trials[0];
  CHECK(!adamw_run.error_occurred);
  CHECK(adamw_run.iterations == 50);
  CHECK(adamw_run.counters.at("parameters") == 1600);
  const double seconds = adamw_run.real_accumulated_time;
  CHECK(adamw_run.counters.at("bytes_per_second") * seconds == near(50.0 * 1600 * 28));
  CHECK(trials[1].counters.at("parameters") == 600);
  CHECK(trials[2].counters.at("parameters") == 607);
  CHECK(trials[3].counters.at("bytes_per_second") * trials[3].real_accumulated_time == near(20.0 * 500 * 28));
}

TEST_CASE("trials train from seeds 1, 2, ..., as a plain loop does, and report their training seconds") {
  const TinyWorkload task;
  const TimeToTargetOptions options{.budget = 200, .every = 4};
  const Keeper keeper =
      run([&] { register_time_to_target("t", options, task, momentum(), constant_rate, batches)->Repetitions(3); });
  const auto trials = keeper.trials();
  REQUIRE(trials.size() == 3);
  std::map<double, int> steps;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::uint64_t seed = i + 1;
    TrainingLoop loop(task.model(), task.loss(), momentum(), constant_rate, ShuffledEpochs{.batch = 32, .seed = seed},
                      Seed{seed});
    std::vector<EvaluationReport> evaluations;
    const RunReport own = loop.run(task.train(), Evaluate(task, {.every = 4}), History{evaluations},
                                   UntilTarget{task.target()}, UntilStep{200});
    REQUIRE(own.target_reached());
    const auto& counters = trials[i].counters;
    CHECK(trials[i].report_label == "seed " + std::to_string(seed));
    CHECK(counters.count("seed") == 0);  // its mean would be meaningless
    CHECK(counters.at("steps") == own.last.now.t);
    CHECK(counters.at("examples") == own.last.examples);
    CHECK(counters.at("evaluations") == evaluations.size());
    CHECK(counters.at("best_metric") == own.best.metric);
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
  CHECK(keeper.time("reached") == 1);
}

TEST_CASE("a trial that misses its target, or diverges, has the longest time") {
  TinyWorkload task;
  task.error = -1;
  const Keeper keeper = run([&] {
    register_time_to_target("missed", {.budget = 8}, task, sgd(), constant_rate, batches)->Repetitions(2);
    register_time_to_target("diverged", {.budget = 8}, task, sgd(), Constant{1e30}, batches)->Repetitions(1);
    register_time_to_target("by itself", {}, task, sgd(), constant_rate, batches)->Repetitions(1);
  });
  const auto trials = keeper.trials();
  REQUIRE(trials.size() == 4);
  for (const auto& trial : trials) {
    CHECK(trial.GetAdjustedRealTime() == missed_target_seconds);
    CHECK(!trial.error_occurred);
  }
  CHECK(keeper.time("median") == missed_target_seconds);
  CHECK(trials[0].counters.at("steps") == 8);
  CHECK(trials[0].report_label == "seed 1, target missed");
  CHECK(trials[1].report_label == "seed 2, target missed");
  CHECK(trials[2].counters.at("steps") < 8);
  CHECK(trials[2].report_label.find("seed 1, ") == 0);
  CHECK(trials[2].report_label.find("not finite") != std::string::npos);
  CHECK(trials[3].counters.at("steps") == 300);  // three times the hint
  CHECK(trials[3].counters.at("evaluations") == 100);
}

TEST_CASE("if a minority of trials miss, the median is the time of a trial that reached its target") {
  const TinyWorkload task;
  const auto three_trials = [&](std::uint64_t budget) {
    const TimeToTargetOptions options{.budget = budget, .every = 4};
    return run(
        [&] { register_time_to_target("t", options, task, momentum(), constant_rate, batches)->Repetitions(3); });
  };
  std::vector<std::uint64_t> steps;
  for (const auto& trial : three_trials(200).trials())
    steps.push_back(static_cast<std::uint64_t>(trial.counters.at("steps")));
  std::sort(steps.begin(), steps.end());
  REQUIRE(steps[1] < steps[2]);
  const Keeper keeper = three_trials(steps[1]);
  std::vector<double> times;
  for (const auto& trial : keeper.trials()) times.push_back(trial.GetAdjustedRealTime());
  std::sort(times.begin(), times.end());
  CHECK(keeper.time("reached") == near(2.0 / 3, 1e-12));
  CHECK(keeper.time("min") == times[0]);
  CHECK(keeper.time("median") == times[1]);
  CHECK(times[1] < 1e6);
  CHECK(keeper.time("max") == missed_target_seconds);
}

TEST_CASE("a benchmark that cannot run reports the reason, and the others still run") {
  const Keeper keeper = run([] {
    register_time_to_target("bad", {}, TinyWorkload{}, adamw({.beta1 = 2}), constant_rate, batches)->Repetitions(1);
    ALGOPERF_OPTIMIZER_STEP(adamw({.beta1 = 2}), Host<>{}, 10);
    ALGOPERF_OPTIMIZER_STEP(adamw(), Host<>{}, 10, 0, -1)->Iterations(1);
  });
  const auto trials = keeper.trials();
  REQUIRE(trials.size() == 5);
  CHECK(trials[0].error_occurred);
  CHECK(trials[0].error_message.find("beta1 is 2") != std::string::npos);
  CHECK(trials[1].error_occurred);
  CHECK(trials[1].error_message.find("beta1 is 2") != std::string::npos);
  CHECK(!trials[2].error_occurred);
  CHECK(trials[3].error_message == "Layout: tensor 'parameters' has no elements");
  CHECK(trials[4].error_message == "Shape: an extent is -1, expected at least 0");
}

namespace {

struct NamedTiny : TinyWorkload {
  static constexpr const char* name = "tiny";
};

struct MomentumSubmission {
  static constexpr const char* name = "momentum";
  SearchSpace search_space() const { return SearchSpace({{.name = "rate", .min = 0.04, .max = 0.06}}); }
  auto rule(const HyperPoint&, const WorkloadFacts&) const { return momentum(); }
  auto schedule(const HyperPoint& point, const WorkloadFacts&) const { return Constant{point["rate"]}; }
  std::size_t batch_size(const WorkloadFacts&) const { return 32; }
};

}  // namespace

TEST_CASE("a submission trains from its default point, each repetition from another seed") {
  const NamedTiny task;
  const TimeToTargetOptions options{.budget = 200, .every = 5};
  const Keeper keeper = run([&] {
    register_time_to_target("s", options, task, MomentumSubmission{})->Repetitions(2);
    register_time_to_target("missed", {.budget = 1}, task, MomentumSubmission{})->Repetitions(1);
  });
  const auto trials = keeper.trials();
  REQUIRE(trials.size() == 3);
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const TrialResult expected = run_trial(task, MomentumSubmission{}, HyperPoint{{"rate", 0.05}},
                                           {.seed = seed, .steps = 200, .evaluate_every = 5});
    CHECK(expected.reached);
    CHECK(trials[seed - 1].counters.at("steps") == static_cast<double>(expected.steps));
    CHECK(trials[seed - 1].report_label == "seed " + std::to_string(seed));
    CHECK(trials[seed - 1].GetAdjustedRealTime() < missed_target_seconds);
  }
  CHECK(trials[2].report_label == "seed 1, target missed");
  CHECK(trials[2].GetAdjustedRealTime() == missed_target_seconds);
}
