// Measures how the steps to a target depend on the batch size, as Shallue et al. 2019 (arXiv:1811.03600): each
// training algorithm is tuned anew for each batch size. Writes report.html, steps.csv and the journal of all trials;
// run it again to continue a study that was interrupted.
//   batch_size_scaling --jobs 2 --out out/batch_sizes
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algoperf/tuning/batch_size/batch_size_scaling.hpp>
#include <algoperf/tuning/batch_size/report.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "batch_size_scaling/workloads.hpp"
#include "command_line/command_line.hpp"
#include "command_line/mpirun.hpp"

namespace ap = algoperf;

namespace {

struct Options {
  std::vector<std::string> workloads{"glyphs_fc"}, submissions{"sgd", "momentum", "adamw"};
  std::size_t least = 4, most = 4096;
  std::vector<double> goals;
  std::uint64_t noise_steps = 400;
  ap::BatchSizeScalingOptions study{.folder = "out/batch_sizes"};
  bool whole_budgets = false, quick = false;
};

std::vector<BatchSizeEntry> all_entries() {
  std::vector<BatchSizeEntry> all;
  for (const auto& make : {digit_entries, language_entries})
    for (BatchSizeEntry& entry : make()) all.push_back(std::move(entry));
  return all;
}

// Adds a name if it is not in the list yet.
void add_name(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}
bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Measures the noise scale at the best point of the batch size closest to 256.
void measure_noise(const BatchSizeEntry& entry, const ap::BatchScaling& scaling, std::uint64_t steps,
                   ap::BatchSizeReportOptions& options) {
  const ap::ScalingCurve curve = ap::scaling_curve(scaling, scaling.goal());
  const ap::BatchResult* best = nullptr;
  const auto distance = [](std::size_t batch) { return std::fabs(std::log(static_cast<double>(batch) / 256)); };
  for (const auto& result : curve.results)
    if (result && result->batch >= 16 && (best == nullptr || distance(result->batch) < distance(best->batch)))
      best = &*result;
  if (best == nullptr) return;
  try {
    options.noise.push_back({scaling.submission, scaling.workload.name, entry.noise(best->point, best->batch, steps)});
  } catch (const ap::Diverged& diverged) {
    fmt::print(stderr, "The noise scale of {} was not measured: {}\n", scaling.submission, diverged.what());
  }
}

void run(const Options& options, const std::vector<BatchSizeEntry>& all) {
  ap::BatchSizeScaling study(options.study);
  std::vector<const BatchSizeEntry*> chosen;
  for (const BatchSizeEntry& each : all)
    if (has(options.workloads, each.entry.workload.name) && has(options.submissions, each.entry.submission)) {
      study.add(each.entry, each.widest);
      chosen.push_back(&each);
    }
  const std::vector<ap::BatchScaling> found = study.run([](std::size_t finished, std::size_t known) {
    std::fprintf(stderr, "\r%zu of %zu trials %s", finished, known, finished == known ? "\n" : "");
  });
  if (!ap::is_root(options.study.runner)) return;
  if (options.study.shards > 1) {
    fmt::print("Shard {} of {} has ended: {}\n", options.study.shard, options.study.shards, study.path());
    return;
  }
  ap::BatchSizeReportOptions report{.easier_goals = options.goals};
  for (std::size_t i = 0; i < chosen.size() && options.noise_steps > 0; ++i)
    measure_noise(*chosen[i], found[i], options.noise_steps, report);
  fmt::print("{}", ap::format_batch_scaling(found, report));
  ap::write_file(options.study.folder + "/steps.csv", ap::batch_scaling_csv(found, report));
  ap::write_batch_size_report(options.study.folder + "/report.html", "Steps to a target by batch size", found, report);
  fmt::print("Wrote {}/report.html, steps.csv and journal.jsonl\n", options.study.folder);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  ap::BatchSizeScalingOptions& study = options.study;
  const std::vector<BatchSizeEntry> all = all_entries();
  std::vector<std::string> workloads, submissions;
  for (const BatchSizeEntry& each : all) {
    add_name(workloads, each.entry.workload.name);
    add_name(submissions, each.entry.submission);
  }
  CommandLine line(
      "Measures the steps to a target by batch size, with hyperparameters tuned for each batch size.\n"
      "Workloads named mnist_* and shakespeare_* read files from the folder ALGOPERF_DATA; glyphs_* need none.");
  line.option("--workloads", options.workloads, fmt::format("some of {}", fmt::join(workloads, ", ")))
      .separated_by_commas()
      .one_of(workloads)
      .shows_default();
  line.option("--submissions", options.submissions, fmt::format("some of {}", fmt::join(submissions, ", ")))
      .separated_by_commas()
      .one_of(submissions)
      .shows_default();
  line.option("--least", options.least, "the smallest batch size, a power of two").whole(1, 1 << 20).shows_default();
  line.option("--most", options.most, "the largest batch size").whole(1, 1 << 20).shows_default();
  line.option("--trials", study.trials, "per batch size, without those that diverge").whole(1, 10000).shows_default();
  line.option("--examples", study.examples, "budget of a trial; 0: twice that of the step hint")
      .whole(0, 1000000000000);
  line.option("--least-steps", study.least_steps, "of a trial; 0: the step hint").whole(0, 1000000000);
  line.option("--goals", options.goals, "easier goals than the target, reported as well")
      .separated_by_commas()
      .real(0, 1e9);
  line.flag("--whole-budgets", options.whole_budgets, "trials do not end at the target; takes longer");
  line.option("--widenings", study.widenings, "of a search space whose best point is at an edge")
      .whole(0, 9)
      .shows_default();
  line.option("--noise-steps", options.noise_steps, "of the measurement of the noise scale; 0: none")
      .whole(0, 1000000)
      .shows_default();
  line.option("--seed", study.seed, "of points and trials").whole(0, UINT64_MAX / 2).shows_default();
  line.option("--jobs", study.jobs, "trials at a time").whole(0, 1024).shows_default();
  line.option("--shard", study.shard, "runs only every --shards-th batch size, from this one on").whole(0, 100000);
  line.option("--shards", study.shards, "number of shards").whole(1, 100000);
  line.option("--out", study.folder, "folder for the journal and the report").shows_default();
  line.flag("--quick", options.quick, "a small study, to see that the program works");
  line.parse(argc, argv);
  try {
    if (options.quick) {
      study.trials = 2, options.least = 64, options.most = 256;
      study.examples = 16000, study.least_steps = 40, study.widenings = 1;
      options.submissions = {"sgd", "momentum"}, options.noise_steps = 40;
      study.folder += "/quick";
    }
    study.batch_sizes = ap::powers_of_two(options.least, options.most);
    study.stop_at_target = !options.whole_budgets;
    study.runner = runner_of_mpirun();
    run(options, all);
  } catch (const std::exception& error) {
    fmt::print(stderr, "batch_size_scaling: {}\n", error.what());
    end_other_ranks();
    return 1;
  }
}
