#include "algoperf/tuning/workers/worker_scaling.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "../../loop/tiny.hpp"
#include "../../support/folder.hpp"
#include "../../support/near.hpp"
#include "../../support/sentence.hpp"
#include "algoperf/tuning/batch_size/constant_rate_submissions.hpp"
#include "algoperf/tuning/workers/measure_orthogonality.hpp"
#include "algoperf/tuning/workers/measure_sequential_error.hpp"
#include "known_combiner.hpp"

namespace ap = algoperf;

namespace {

// Every number of the curves that no clock influences.
std::vector<double> numbers_of_curves(const std::vector<ap::WorkerCurve>& curves) {
  std::vector<double> numbers;
  for (const ap::WorkerCurve& curve : curves)
    for (const auto* const measurements : {&curve.tuned, &curve.untuned})
      for (const ap::WorkerMeasurement& measurement : *measurements) {
        numbers.push_back(static_cast<double>(measurement.workers));
        numbers.push_back(measurement.point["learning_rate"]);
        for (const ap::TrialResult& run : measurement.runs)
          for (const ap::TrialEvaluation& evaluation : run.evaluations) {
            numbers.push_back(static_cast<double>(evaluation.step));
            numbers.push_back(evaluation.metric);
          }
      }
  return numbers;
}

ap::WorkerMeasurement measured_runs(const std::vector<std::vector<std::pair<std::uint64_t, double>>>& runs) {
  ap::WorkerMeasurement measurement;
  for (const auto& evaluations : runs) {
    ap::TrialResult run;
    for (const auto& [step, metric] : evaluations) {
      ap::TrialEvaluation evaluation;
      evaluation.step = step, evaluation.metric = metric;
      run.evaluations.push_back(evaluation);
    }
    measurement.runs.push_back(run);
  }
  return measurement;
}

struct WorkerDigits : ap::testing::Tiny {
  static constexpr const char* name = "worker_digits";
  auto test() const { return all.subset(256, 320); }
  static ap::Target target() { return {0.5, true}; }
  static std::uint64_t step_hint() { return 30; }
  static std::size_t batch_size() { return 16; }
};

const ap::HyperPoint momentum_point{{"learning_rate", 0.05}, {"one_minus_momentum", 0.1}};

}  // namespace

TEST_CASE("a study of workers tunes each number of workers, and reuses the best point of one worker") {
  const Folder folder;
  const auto curves = known_workers(known_worker_options(folder.path())).run();
  REQUIRE(curves.size() == 3);
  const ap::Target target = curves[0].workload.target;
  for (std::size_t c = 0; c < 3; ++c) {
    const KnownScaling law = known_combiners[c].law();
    CAPTURE(law.name);
    CHECK(curves[c].submission == "rule");
    CHECK(curves[c].combiner == known_combiners[c].combiner);
    REQUIRE(curves[c].tuned.size() == 6);
    REQUIRE(curves[c].untuned.size() == 6);
    for (std::size_t w = 0; w < 6; ++w) {
      const ap::WorkerMeasurement &tuned = curves[c].tuned[w], &untuned = curves[c].untuned[w];
      const std::size_t workers = std::size_t{1} << w, batch = 8 * workers;
      CHECK(tuned.workers == workers);
      CHECK(untuned.workers == workers);
      CHECK(untuned.point["learning_rate"] == curves[0].untuned[0].point["learning_rate"]);
      CHECK(untuned.point["learning_rate"] == near(0.1, 0.2));
      REQUIRE(tuned.runs.size() == 5);
      const double budget = 64000.0 / static_cast<double>(batch);
      for (const auto* const measurement : {&tuned, &untuned}) {
        const double steps = law.steps(measurement->point["learning_rate"], batch);
        for (const double found : ap::steps_of_runs(*measurement, target)) {
          if (std::isinf(found)) {
            CHECK(1.1 * steps + 1 >= budget);
          } else {
            CHECK(found >= steps);
            CHECK(found <= 1.1 * steps + 1);
          }
        }
      }
      if (law.steps(law.best_rate(batch), batch) * 1.2 < budget)
        CHECK(tuned.point["learning_rate"] == near(law.best_rate(batch), 0.3));
    }
    // Another seed gives another run, and all numbers of workers and combiners have the same seeds.
    const auto steps = ap::steps_of_runs(curves[c].tuned[0], target);
    CHECK(ap::steps_to_target(curves[c].tuned[0], target).low < ap::steps_to_target(curves[c].tuned[0], target).high);
    for (std::size_t s = 1; s < 5; ++s)
      CHECK(steps[s] / steps[0] == near(ap::steps_of_runs(curves[0].untuned[1], target)[s] /
                                            ap::steps_of_runs(curves[0].untuned[1], target)[0],
                                        0.03));
  }
  // The untuned learning rate is right for the sum at any number of workers, and too low for the mean with many.
  const auto ratio = [&](std::size_t c) {
    return ap::steps_to_target(curves[c].untuned[3], target).median /
           ap::steps_to_target(curves[c].tuned[3], target).median;
  };
  CHECK(ratio(1) < 1.05);
  CHECK(ratio(0) > 1.8);  // exp(0.2 log(8)^2) = 2.4
}

TEST_CASE("a study of workers has the same results in processes, and continues after an interruption") {
  const Folder folder, other;
  ap::WorkerScalingOptions options = known_worker_options(folder.path());
  options.trials = 6, options.seeds = 2, options.workers = {1, 4};
  const auto expected = numbers_of_curves(known_workers(options).run());
  options.folder = other.path();
  options.jobs = 2;
  CHECK(numbers_of_curves(known_workers(options).run()) == expected);
  // Without the last runs, they are run again, and no others.
  const std::string path = other.path() + "/runs.jsonl";
  std::string text = bytes_of(path);
  for (int line = 0; line < 5; ++line) text.resize(text.rfind('\n', text.size() - 2) + 1);
  ap::write_file(path, text);
  std::vector<std::string> phases;
  CHECK(numbers_of_curves(known_workers(options).run([&](const char* phase, std::size_t, std::size_t known) {
          phases.push_back(phase);
          CHECK(known == 5);
        })) == expected);
  CHECK(phases == std::vector<std::string>(5, "runs"));
  options.seeds = 3;
  CHECK(ap::testing::contains(sentence([&] { known_workers(options).run(); }), "runs.jsonl:1: settings.seeds"));
}

TEST_CASE("a run that fails is reported, and run again when the study continues") {
  const Folder folder;
  ap::WorkerScalingOptions options = known_worker_options(folder.path());
  options.trials = 3, options.seeds = 2, options.workers = {1, 2};
  const auto run = [&](bool fails) {
    ap::WorkerScaling study(options);
    ap::StudyEntry entry = known_combiners[0].entry();
    const auto works = entry.run;
    entry.run = [works, fails](const ap::HyperPoint& point, const ap::TrialOptions& trial) {
      ap::require(!fails || trial.stop_at_target || trial.workers == 1, "out of memory");
      return works(point, trial);
    };
    study.add("rule", "mean", entry);
    return study.run()[0];
  };
  const ap::WorkerCurve failed = run(true), whole = run(false);
  CHECK(failed.failures == std::vector<std::string>(4, "2 workers: out of memory"));  // tuned and untuned, two seeds
  CHECK(std::isinf(ap::steps_to_target(failed.tuned[1], failed.workload.target).median));
  CHECK(whole.failures.empty());
  CHECK(std::isfinite(ap::steps_to_target(whole.tuned[1], whole.workload.target).median));
}

TEST_CASE("runs that reach a target: medians, misses and ratios") {
  const double never = std::numeric_limits<double>::infinity();
  const ap::Target target{0.1, true};
  const auto measurement = measured_runs({{{1, 0.9}, {10, 0.1}, {20, 0.05}}, {{1, 0.9}, {10, 0.2}}, {{5, 0.05}}});
  CHECK(ap::steps_of_runs(measurement, target) == std::vector<double>{10, never, 5});
  CHECK(ap::steps_to_target(measurement, target).median == 10);
  CHECK(ap::steps_to_target(measurement, target).high == never);
  CHECK(ap::best_of_runs(measurement, target) == std::vector<double>{0.05, 0.2, 0.05});
  CHECK(ap::best_of_runs(measurement, {0.1, false}) == std::vector<double>{0.9, 0.9, 0.05});

  const ap::MedianRatio same = ap::median_ratio({10, 10, 10}, {20, 20, 20});
  CHECK(same.value == 0.5);
  CHECK(same.interval.low == 0.5);
  CHECK(same.interval.high == 0.5);
  const ap::MedianRatio wide = ap::median_ratio({8, 10, 14}, {20, 20, never});
  CHECK(wide.value == 0.5);
  CHECK(wide.interval.low < 0.5);
  CHECK(wide.interval.high > 0.5);
  CHECK(sentence([] {
          ap::median_ratio({1, INFINITY, INFINITY}, {1});
        }) == "median_ratio: the medians are inf and 1, expected finite numbers");
  CHECK(sentence([] { ap::steps_to_target({}, {0.1, true}); }) == "WorkerMeasurement: there are no runs");

  std::vector<ap::WorkerMeasurement> all(3, measurement);
  all[0].workers = 1, all[1].workers = 2, all[2].workers = 4;
  CHECK(ap::workers_that_reach(all, target) == 4);
  all[1].runs.pop_back();  // half of its runs miss the target
  CHECK(ap::workers_that_reach(all, target) == 1);
  CHECK(ap::workers_that_reach(all, {0.01, true}) == 0);
}

TEST_CASE("a trial with a combiner splits its batches over workers") {
  const WorkerDigits task;
  const ap::TrialOptions options{
      .seed = 3, .steps = 20, .evaluate_every = 5, .batch_size = 32, .stop_at_target = false};
  const auto run = [&](const auto& submission, std::size_t workers) {
    ap::TrialOptions with = options;
    with.workers = workers;
    return ap::run_trial(task, submission, momentum_point, with);
  };
  const ap::TrialResult alone = run(ap::ConstantMomentum{}, 1);
  const ap::TrialResult mean = run(ap::WithCombiner<ap::ConstantMomentum, ap::Mean>{}, 4);
  const ap::TrialResult sum = run(ap::WithCombiner<ap::ConstantMomentum, ap::WorkerSum<ap::Of::gradients>>{}, 4);
  REQUIRE(alone.evaluations.size() == mean.evaluations.size());
  for (std::size_t i = 0; i < alone.evaluations.size(); ++i)
    CHECK(mean.evaluations[i].loss == near(alone.evaluations[i].loss, 1e-4));
  CHECK(std::fabs(sum.evaluations.back().loss - alone.evaluations.back().loss) > 0.01);
  CHECK(sentence([&] { run(ap::ConstantMomentum{}, 2); }) ==
        "TrialOptions: workers is 2, but submission 'momentum' has no combiner");
  CHECK(sentence([&] { run(ap::ConstantMomentum{}, 0); }) == "TrialOptions: workers is 0, expected at least 1");
}

TEST_CASE("a study of workers trains") {
  const Folder folder;
  ap::WorkerScaling study({.folder = folder.path(),
                           .workers = {1, 4},
                           .examples_per_worker = 8,
                           .examples = 800,
                           .trials = 2,
                           .widenings = 0,
                           .seeds = 2,
                           .jobs = 0});
  study.add<ap::Of::gradients>(WorkerDigits{}, ap::ConstantMomentum{});
  const auto curves = study.run();
  REQUIRE(curves.size() == 3);
  CHECK(curves[0].combiner == "mean");
  CHECK(curves[2].combiner == "adasum");
  for (const ap::WorkerCurve& curve : curves) {
    CHECK(curve.submission == "momentum");
    // With one worker, all combiners make the same steps.
    for (std::size_t s = 0; s < 2; ++s) {
      CHECK(curve.untuned[0].runs[s].steps == 100);
      CHECK(curve.untuned[1].runs[s].steps == 25);
      CHECK(curve.untuned[0].runs[s].evaluations.back().loss == curves[0].untuned[0].runs[s].evaluations.back().loss);
    }
  }
  CHECK(curves[1].untuned[1].runs[0].evaluations.back().loss != curves[0].untuned[1].runs[0].evaluations.back().loss);
}

TEST_CASE("orthogonality and errors against sequential steps, during training") {
  const WorkerDigits task;
  const ap::Orthogonality found = ap::measure_orthogonality<ap::Of::updates>(
      task, ap::ConstantMomentum{}, momentum_point,
      {.examples_per_worker = 8, .workers = 4, .steps = 12, .samples = 4, .seed = 5});
  CHECK(found.workers == 4);
  REQUIRE(found.tensors.size() == 4);
  REQUIRE(found.samples.size() == 4);
  ap::TrainingLoop loop(task.model(), task.loss(), ap::momentum({.mu = 0.9}), ap::Constant{0.05},
                        ap::ShuffledEpochs{.batch = 32, .seed = 5}, ap::Seed{5}, ap::Adasum<ap::Of::updates>{},
                        ap::InProcess{4});
  loop.measure_orthogonality(1);
  std::size_t i = 0;
  for (const ap::OrthogonalitySample& sample : found.samples) {
    CHECK(sample.step == 3 * ++i);
    while (loop.steps() < sample.step) loop.step(task.train());
    CHECK(sample.of_tensors == loop.orthogonality());
    for (const double x : sample.of_tensors) CHECK(x > 0.25 - 1e-6);
  }

  const auto errors = ap::measure_sequential_error(
      task, {.learning_rate = 1e-4, .examples_per_worker = 8, .workers = 4, .steps = 6, .every = 2, .seed = 5});
  REQUIRE(errors.size() == 3);
  CHECK(errors[2].step == 6);
  for (const ap::SequentialErrors& each : errors) {  // short steps see no curvature
    CHECK(each.mean == near(0.75, 0.01));
    CHECK(each.sum < 0.01);
  }

  const auto orthogonality = [&](const ap::OrthogonalityOptions& options) {
    return sentence(
        [&] { ap::measure_orthogonality<ap::Of::updates>(task, ap::ConstantMomentum{}, momentum_point, options); });
  };
  CHECK(orthogonality({.workers = 1, .steps = 30}) == "measure_orthogonality: workers is 1, expected at least 2");
  CHECK(ap::testing::contains(orthogonality({.steps = 10}), "there are 10 steps for 20 samples"));
  CHECK(sentence([&] { ap::measure_sequential_error(task, {.workers = 1}); }) ==
        "measure_sequential_error: workers is 1, expected at least 2");
  CHECK(sentence([&] { ap::measure_sequential_error(task, {.every = 0}); }) ==
        "measure_sequential_error: every is 0, expected at least 1");
}

TEST_CASE("bad options of a study of workers") {
  const auto refused = [](const ap::WorkerScalingOptions& options) {
    return sentence([&] { (void)ap::WorkerScaling(options); });
  };
  CHECK(refused({.workers = {}}) == "WorkerScalingOptions: there is no number of workers");
  CHECK(refused({.examples_per_worker = 0}) == "WorkerScalingOptions: examples_per_worker is 0, expected at least 1");
  CHECK(refused({.seeds = 0}) == "WorkerScalingOptions: seeds is 0, expected 1 to 10000");
  CHECK(ap::testing::contains(refused({.trials = 0}), "trials is 0"));
  CHECK(ap::testing::contains(refused({.workers = {2, 1}}), "expected ascending sizes"));
  CHECK(sentence([] {
          ap::BatchSizeScaling({.batch_sizes = {8, 12}, .examples_per_worker = 8});
        }) == "BatchSizeScalingOptions: batch size 12 is no multiple of examples_per_worker, which is 8");
}
