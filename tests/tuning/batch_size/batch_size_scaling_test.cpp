#include "algoperf/tuning/batch_size/batch_size_scaling.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "../../support/folder.hpp"
#include "../../support/near.hpp"
#include "../../support/sentence.hpp"
#include "algoperf/tuning/batch_size/scaling_curve.hpp"
#include "algoperf/tuning/merge_journals.hpp"
#include "known_scaling.hpp"

namespace ap = algoperf;

namespace {

ap::BatchSizeScalingOptions batch_options_of(const Folder& folder) {
  return {.folder = folder.path(), .batch_sizes = ap::powers_of_two(1, 1024), .trials = 40, .jobs = 0};
}
std::vector<ap::BatchScaling> measure_known(const ap::BatchSizeScalingOptions& options, const KnownScaling& known,
                                            const std::vector<ap::Hyperparameter>& widest = {}) {
  ap::BatchSizeScaling study(options);
  study.add(known.entry(), widest);
  return study.run();
}
// The numbers of a study that do not depend on clocks.
std::vector<double> numbers_of_scalings(const std::vector<ap::BatchScaling>& all) {
  std::vector<double> numbers;
  for (const ap::BatchScaling& scaling : all)
    for (const ap::BatchStudy& study : scaling.studies)
      for (const ap::BatchTrial& trial : study.trials) {
        numbers.insert(numbers.end(), {static_cast<double>(study.batch), static_cast<double>(trial.id),
                                       static_cast<double>(trial.status), trial.point["learning_rate"]});
        for (const auto& measured : trial.measurements) {
          numbers.push_back(static_cast<double>(measured.step));
          numbers.push_back(measured.metric);
        }
      }
  return numbers;
}

}  // namespace

TEST_CASE("a study of batch sizes recovers a known law of steps, and its best learning rates") {
  const Folder folder;
  const KnownScaling known;
  const auto all = measure_known(batch_options_of(folder), known);
  REQUIRE(all.size() == 1);
  REQUIRE(all[0].studies.size() == 11);
  CHECK(all[0].examples == 50000);
  CHECK(all[0].budgets[0] == 128000);  // twice the examples of the step hint
  CHECK(all[0].budgets[10] == 1000);   // no fewer steps than the step hint
  const ap::ScalingCurve curve = ap::scaling_curve(all[0], all[0].goal());
  for (std::size_t b = 0; b < 11; ++b) {
    const std::size_t batch = all[0].studies[b].batch;
    CHECK(batch == std::size_t{1} << b);
    CHECK(all[0].studies[b].count(ap::TrialStatus::complete) >= 40);
    REQUIRE(curve.results[b].has_value());
    CHECK(curve.steps(b) == near(known.steps(known.best_rate(batch), batch), 0.03));
    CHECK(curve.examples(b) == curve.steps(b) * static_cast<double>(batch));
    // Steps are those of the law at the point that is reported.
    CHECK(curve.steps(b) == std::ceil(known.steps(curve.results[b]->point["learning_rate"], batch)));
  }
  REQUIRE(curve.critical_batch.has_value());
  CHECK(curve.least_steps->value == near(200, 0.02));
  CHECK(curve.critical_batch->value == near(32, 0.02));
  CHECK(curve.critical_batch->interval.low > 30);
  CHECK(curve.critical_batch->interval.low < curve.critical_batch->value);
  CHECK(curve.critical_batch->interval.high > curve.critical_batch->value);
  CHECK(curve.critical_batch->interval.high < 34);
  CHECK(curve.regimes->perfect_until == 4);   // (1 + 32 / B) B <= 1.2 (1 + 32)
  CHECK(curve.regimes->maximal_from == 256);  // 1 + 32 / B <= 1.2 (1 + 32 / 1024)
  CHECK(curve.rate_exponent->value == near(0.5, 0.2));
  CHECK(curve.rate_exponent->interval.low < 0.5);
  CHECK(curve.rate_exponent->interval.high > 0.5);

  // An easier goal is reached halfway; a goal that no trial reaches has no result, and no fit.
  const ap::ScalingCurve easier = ap::scaling_curve(all[0], {0.4, true, true});
  CHECK(easier.steps(0) <= std::ceil(curve.steps(0) / 2));
  // One batch size, and equal steps for all, have no fit.
  ap::BatchScaling one = all[0];
  for (std::size_t b = 1; b < 11; ++b) one.studies[b].trials.clear();
  CHECK(ap::scaling_curve(one, one.goal()).steps(0) == curve.steps(0));
  CHECK_FALSE(ap::scaling_curve(one, one.goal()).regimes.has_value());
  const ap::ScalingCurve at_once = ap::scaling_curve(all[0], {0.9, true, true});
  CHECK(at_once.steps(10) == 1);
  CHECK_FALSE(at_once.critical_batch.has_value());
  const ap::ScalingCurve never = ap::scaling_curve(all[0], {0.1, true, false});
  CHECK(std::isnan(never.steps(0)));
  CHECK_FALSE(never.regimes.has_value());
  CHECK_FALSE(never.critical_batch.has_value());
  CHECK_FALSE(never.rate_exponent.has_value());
}

TEST_CASE("trials that diverge or fail are replaced, up to twice the number of trials") {
  const Folder folder;
  ap::BatchSizeScalingOptions options = batch_options_of(folder);
  options.batch_sizes = {16};
  options.widenings = 0;
  KnownScaling known{.diverges_from = 1};  // 0.04: in three fifths of the space
  auto all = measure_known(options, known);
  CHECK(all[0].studies[0].count(ap::TrialStatus::complete) < 40);  // of 80 that were tried, about 32
  CHECK(all[0].studies[0].trials.size() == 80);
  CHECK(all[0].failures.empty());

  const Folder other;
  options.folder = other.path();
  known.diverges_from = 5;  // a third of the space
  ap::StudyEntry entry = known.entry();
  std::set<std::uint64_t> seeds;
  entry.run = [&](const ap::HyperPoint& point, const ap::TrialOptions& trial) {
    CHECK(trial.batch_size == 16);
    CHECK(trial.steps == 8000);
    CHECK(trial.evaluate_every == 16);
    CHECK(trial.evaluate_growth == 1.05);
    CHECK(trial.stop_at_target);
    seeds.insert(trial.seed);
    ap::require(seeds.size() != 3, "a fault of the submission");
    return known.run(point, trial);
  };
  ap::BatchSizeScaling study(options);
  study.add(entry);
  all = study.run();
  const ap::BatchStudy& replaced = all[0].studies[0];
  CHECK(replaced.count(ap::TrialStatus::complete) == 40);
  CHECK(replaced.count(ap::TrialStatus::infeasible) > 5);
  CHECK(replaced.count(ap::TrialStatus::incomplete) == 1);
  CHECK(seeds.size() == replaced.trials.size());
  CHECK(all[0].failures == std::vector<std::string>{"batch size 16: a fault of the submission"});
  for (const ap::BatchTrial& trial : replaced.trials)
    CHECK((trial.status == ap::TrialStatus::infeasible) == (trial.point["learning_rate"] >= 5 * known.best_rate(16)));
}

TEST_CASE("an optimum at an edge widens the search space") {
  const Folder folder, narrow_folder, limited_folder;
  ap::BatchSizeScalingOptions options = batch_options_of(folder);
  options.batch_sizes = {1, 16};
  options.trials = 20;
  // The best rates, 0.01 and 0.04, are beyond the lower end. Half of the width of the logarithms reaches to 0.032.
  const KnownScaling known{.diverges_from = 1e9, .low = 0.1, .high = 1};
  const auto all = measure_known(options, known);
  CHECK(all[0].space.hyperparameters()[0].min == 0.1);
  REQUIRE(all[0].widenings.size() >= 3);
  const ap::Widening& first = all[0].widenings[0];
  CHECK(first.batch == 1);
  CHECK(first.hyperparameter == "learning_rate");
  CHECK(first.best < 0.1 * std::pow(10, 0.05));
  CHECK(first.from == near(0.1 / std::sqrt(10), 1e-12));
  CHECK(first.to == 0.1);
  // The second strip is half as wide as the range with the first one.
  CHECK(all[0].widenings[1].from == near(first.from / std::pow(10, 0.75), 1e-12));
  CHECK(all[0].widenings[1].moved);
  CHECK(all[0].studies[0].trials.size() == 40);  // twice half of the trials more
  const ap::ScalingCurve curve = ap::scaling_curve(all[0], all[0].goal());
  CHECK(curve.results[0]->point["learning_rate"] == near(0.01, 0.4));
  CHECK(curve.steps(0) == near(known.steps(0.01, 1), 0.05));

  CHECK(all[0].widenings[0].moved);  // beyond the first strip, too

  options.folder = narrow_folder.path();
  options.widenings = 0;
  const auto narrow = measure_known(options, known);
  CHECK(narrow[0].widenings.empty());
  CHECK(ap::scaling_curve(narrow[0], narrow[0].goal()).steps(0) > 1.5 * curve.steps(0));

  options.folder = limited_folder.path();
  options.widenings = 2;
  const auto limited = measure_known(options, known, {{.name = "learning_rate", .min = 0.05, .max = 10}});
  for (const ap::BatchStudy& study : limited[0].studies)
    for (const ap::BatchTrial& trial : study.trials) CHECK(trial.point["learning_rate"] >= 0.05);
  CHECK(limited[0].widenings[0].from == 0.05);
}

TEST_CASE("a study of batch sizes continues, and shards are its parts") {
  const Folder whole_folder, folder;
  ap::BatchSizeScalingOptions options = batch_options_of(whole_folder);
  options.batch_sizes = {1, 8, 64};
  options.trials = 10;
  const KnownScaling known{.low = 0.05};  // widened for the smallest batch size
  const auto whole = measure_known(options, known);
  CHECK_FALSE(whole[0].widenings.empty());

  // Ends after every third trial until all have run.
  options.folder = folder.path();
  std::size_t runs = 0, repeated = 0;
  std::set<std::uint64_t> seen;
  ap::StudyEntry entry = known.entry();
  entry.run = [&](const ap::HyperPoint& point, const ap::TrialOptions& trial) {
    repeated += !seen.insert(trial.seed).second;
    return known.run(point, trial);
  };
  std::vector<ap::BatchScaling> found;
  for (bool ended = false; !ended; ++runs) {
    ap::BatchSizeScaling study(options);
    study.add(entry);
    try {
      found = study.run([](std::size_t finished, std::size_t) { ap::require(finished < 3, "killed"); });
      ended = true;
    } catch (const ap::Error& error) {
      CHECK(std::string(error.what()) == "killed");
    }
  }
  CHECK(runs > 5);
  CHECK(repeated == 0);
  CHECK(numbers_of_scalings(found) == numbers_of_scalings(whole));

  const Folder shards, processes;
  options.shards = 2;
  std::vector<std::string> journals;
  for (options.shard = 0; options.shard < 2; ++options.shard) {
    options.folder = shards / std::to_string(options.shard);
    const auto part = measure_known(options, known);
    CHECK(part[0].studies[1 - options.shard].trials.empty());
    journals.push_back(options.folder + "/journal.jsonl");
  }
  options.shard = 0, options.shards = 1, options.folder = shards.path();
  ap::merge_journals(journals, options.folder + "/journal.jsonl", {.same_processor = false});
  ap::BatchSizeScaling merged(options);
  ap::StudyEntry unused = known.entry();
  unused.run = [](const auto&, const auto&) -> ap::TrialResult { ap::fail("a trial ran again"); };
  merged.add(unused);
  CHECK(numbers_of_scalings(merged.run()) == numbers_of_scalings(whole));

  options.folder = processes.path();
  options.jobs = 2;
  CHECK(numbers_of_scalings(measure_known(options, known)) == numbers_of_scalings(whole));
}

TEST_CASE("a study of batch sizes refuses bad input") {
  const Folder folder;
  const auto refused = [&](auto change) {
    ap::BatchSizeScalingOptions options = batch_options_of(folder);
    change(options);
    return sentence([&] { ap::BatchSizeScaling study(options); });
  };
  CHECK(refused([](auto& o) { o.batch_sizes.clear(); }) == "BatchSizeScalingOptions: there is no batch size");
  CHECK(refused([](auto& o) {
          o.batch_sizes = {4, 4};
        }) == "BatchSizeScalingOptions: batch size 4 is number 1, expected ascending sizes above 0");
  CHECK(refused([](auto& o) { o.batch_sizes = {0}; }) ==
        "BatchSizeScalingOptions: batch size 0 is number 0, expected ascending sizes above 0");
  CHECK(refused([](auto& o) { o.trials = 0; }) == "BatchSizeScalingOptions: trials is 0, expected 1 to 10000");
  CHECK(refused([](auto& o) { o.edge = 0.5; }) == "BatchSizeScalingOptions: edge is 0.5, expected [0, 0.5)");
  CHECK(refused([](auto& o) { o.shard = 1; }) ==
        "BatchSizeScalingOptions: shard is 1, expected less than shards, which is 1");
  CHECK(refused([](auto& o) { o.search = ap::Search::official; }) ==
        "BatchSizeScalingOptions: search is official, which has one set of points");
  CHECK(sentence([&] {
          ap::BatchSizeScalingOptions large = batch_options_of(folder);
          large.batch_sizes = {50001};
          (void)measure_known(large, KnownScaling{});
        }) == "BatchSizeScaling: batch size 50001 exceeds the 50000 examples of workload 'law'");
  std::filesystem::remove(folder / "journal.jsonl");
  CHECK(sentence([&] {
          ap::BatchSizeScaling misspelt(batch_options_of(folder));
          misspelt.add(KnownScaling{}.entry(), {{.name = "rate", .min = 0, .max = 1}});
        }) == "BatchSizeScaling: the widest space of submission 'known' has 'rate', which its search space lacks");
  CHECK(sentence([] { (void)ap::powers_of_two(3, 8); }) == "powers_of_two: 3 is not a power of two");
  CHECK(ap::powers_of_two(4, 31) == std::vector<std::size_t>{4, 8, 16});

  ap::BatchSizeScaling study(batch_options_of(folder));
  CHECK(sentence([&] { (void)study.run(); }) == "BatchSizeScaling: there is no submission");
  study.add(KnownScaling{}.entry());
  CHECK(sentence([&] { study.add(KnownScaling{}.entry()); }) ==
        "BatchSizeScaling: submission 'known' was added to workload 'law' twice");
  ap::StudyEntry listed = KnownScaling{.name = "listed"}.entry();
  listed.space = ap::SearchSpace(std::vector<ap::HyperPoint>{{{"learning_rate", 0.1}}});
  CHECK(sentence([&] { study.add(listed); }) ==
        "BatchSizeScaling: the search space of submission 'listed' is a list of points, expected ranges");

  // The journal of another study.
  ap::BatchSizeScalingOptions options = batch_options_of(folder);
  options.batch_sizes = {2};
  options.trials = 2;
  (void)measure_known(options, KnownScaling{});
  options.trials = 3;
  CHECK(sentence([&] { (void)measure_known(options, KnownScaling{}); }) ==
        folder / "journal.jsonl:1: settings.trials is 2, but this study has 3");
  options.trials = 2;
  std::string journal = bytes_of(folder / "journal.jsonl");
  const std::size_t at = journal.find("\"learning_rate\":", journal.find('\n')) + 16;
  journal.replace(at, 1, "7");
  folder.write("journal.jsonl", journal);
  CHECK(sentence([&] { (void)measure_known(options, KnownScaling{}); }).find("has another point than this study") !=
        std::string::npos);
}
