// Measures how training depends on the number of data-parallel workers and on how their results are combined: by the
// mean, the sum or Adasum (Maleki et al. 2020, arXiv:2006.02924). Writes report.html, runs.csv and the journals of all
// runs; run it again to continue a study that was interrupted.
//   adasum_scaling --jobs 2 --out out/adasum
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algoperf/tuning/batch_size/constant_rate_submissions.hpp>
#include <algoperf/tuning/workers/measure_sequential_error.hpp>
#include <algoperf/tuning/workers/report.hpp>
#include <algoperf/tuning/workers/worker_scaling.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "batch_size_scaling/digits.hpp"
#include "command_line/command_line.hpp"
#include "command_line/mpirun.hpp"

namespace ap = algoperf;

namespace {

struct Options {
  std::vector<std::string> workloads{"glyphs_fc"}, submissions{"momentum", "adamw", "lamb"};
  std::size_t most = 64, orthogonality_workers = 16;
  double sequential_rate = 0.1;
  ap::WorkerScalingOptions study{.folder = "out/adasum", .examples = 200000};
  bool quick = false;
};

// A submission on a workload.
struct Entry {
  std::string workload, submission;
  std::function<void(ap::WorkerScaling&)> add;
  std::function<ap::Orthogonality(const ap::HyperPoint&, const ap::OrthogonalityOptions&)> orthogonality;
  std::function<std::vector<ap::SequentialErrors>(const ap::SequentialErrorOptions&)> sequential;
};

template <ap::Of of, class W, class S>
void add_entry(std::vector<Entry>& entries, const W& workload, const S& submission) {
  entries.push_back({workload.name, S::name,
                     [workload, submission](ap::WorkerScaling& study) { study.add<of>(workload, submission); },
                     [workload, submission](const ap::HyperPoint& point, const ap::OrthogonalityOptions& options) {
                       return ap::measure_orthogonality<of>(workload, submission, point, options);
                     },
                     [workload](const ap::SequentialErrorOptions& options) {
                       return ap::measure_sequential_error(workload, options);
                     }});
}
// Adasum combines the gradients of SGD and momentum, and the updates of the others, as in the paper.
template <class... W>
std::vector<Entry> entries_on(const W&... workloads) {
  std::vector<Entry> entries;
  ((add_entry<ap::Of::gradients>(entries, workloads, ap::ConstantSgd{}),
    add_entry<ap::Of::gradients>(entries, workloads, ap::ConstantMomentum{}),
    add_entry<ap::Of::updates>(entries, workloads, ap::ConstantAdamW{}),
    add_entry<ap::Of::updates>(entries, workloads, ap::ConstantLamb{})),
   ...);
  return entries;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}
void add_name(std::vector<std::string>& names, const std::string& name) {
  if (!has(names, name)) names.push_back(name);
}

// Measures the orthogonality with the untuned point, and SGD's errors against sequential steps.
void measure_vectors(const Options& options, const std::vector<const Entry*>& chosen,
                     const std::vector<ap::WorkerCurve>& curves, ap::WorkerReportOptions& report) {
  const std::uint64_t steps = std::max<std::uint64_t>(
      options.study.examples / (options.study.examples_per_worker * options.orthogonality_workers), 1);
  const std::uint64_t samples = std::min<std::uint64_t>(steps, 40);
  std::vector<std::string> done;
  for (const Entry* const entry : chosen) {
    for (const ap::WorkerCurve& curve : curves) {
      if (curve.combiner != "adasum" || curve.submission != entry->submission ||
          curve.workload.name != entry->workload || curve.untuned.empty())
        continue;
      try {
        report.orthogonality.push_back({entry->submission, entry->workload,
                                        entry->orthogonality(curve.untuned.front().point,
                                                             {.examples_per_worker = options.study.examples_per_worker,
                                                              .workers = options.orthogonality_workers,
                                                              .steps = steps,
                                                              .samples = samples})});
      } catch (const ap::Diverged& diverged) {
        fmt::print(stderr, "The orthogonality of {} was not measured: {}\n", entry->submission, diverged.what());
      }
    }
    if (has(done, entry->workload)) continue;
    done.push_back(entry->workload);
    ap::SequentialErrorOptions sequence{.learning_rate = options.sequential_rate,
                                        .examples_per_worker = options.study.examples_per_worker,
                                        .workers = options.orthogonality_workers,
                                        .steps = steps,
                                        .every = (steps + samples - 1) / samples};
    report.sequential.push_back({entry->workload, options.sequential_rate, sequence.workers,
                                 sequence.examples_per_worker, entry->sequential(sequence)});
  }
}

void run(const Options& options, const std::vector<Entry>& all) {
  ap::WorkerScaling study(options.study);
  std::vector<const Entry*> chosen;
  for (const Entry& entry : all)
    if (has(options.workloads, entry.workload) && has(options.submissions, entry.submission)) {
      entry.add(study);
      chosen.push_back(&entry);
    }
  const std::vector<ap::WorkerCurve> curves = study.run([](const char* phase, std::size_t finished, std::size_t known) {
    std::fprintf(stderr, "\r%s: %zu of %zu %s", phase, finished, known, finished == known ? "\n" : "");
  });
  if (!ap::is_root(options.study.runner)) return;
  ap::WorkerReportOptions report;
  measure_vectors(options, chosen, curves, report);
  fmt::print("{}", ap::format_worker_scaling(curves, report));
  ap::write_file(options.study.folder + "/runs.csv", ap::worker_scaling_csv(curves));
  ap::write_worker_report(options.study.folder + "/report.html", "Workers and combiners", curves, report);
  fmt::print("Wrote {}/report.html, runs.csv, runs.jsonl and search/journal.jsonl\n", options.study.folder);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  ap::WorkerScalingOptions& study = options.study;
  const std::vector<Entry> all =
      entries_on(FewValidated<ap::GlyphWorkload<DigitFc>>{}, FewValidated<ap::MnistWorkload<DigitFc>>{});
  std::vector<std::string> workloads, submissions;
  for (const Entry& entry : all) {
    add_name(workloads, entry.workload);
    add_name(submissions, entry.submission);
  }
  CommandLine line(
      "Measures the steps to a target and the best metric by the number of workers, whose gradients or updates are\n"
      "combined by the mean, the sum or Adasum.\n"
      "Workloads named mnist_* read files from the folder ALGOPERF_DATA; glyphs_* need none.");
  line.option("--workloads", options.workloads, fmt::format("some of {}", fmt::join(workloads, ", ")))
      .separated_by_commas()
      .one_of(workloads)
      .shows_default();
  line.option("--submissions", options.submissions, fmt::format("some of {}", fmt::join(submissions, ", ")))
      .separated_by_commas()
      .one_of(submissions)
      .shows_default();
  line.option("--most", options.most, "workers, a power of two; the study has all powers of two up to it")
      .whole(1, 1024)
      .shows_default();
  line.option("--examples-per-worker", study.examples_per_worker, "per step").whole(1, 100000).shows_default();
  line.option("--examples", study.examples, "budget of a run").whole(1, 1000000000000).shows_default();
  line.option("--trials", study.trials, "of the search at each number of workers").whole(1, 10000).shows_default();
  line.option("--widenings", study.widenings, "of a search space whose best point is at an edge")
      .whole(0, 9)
      .shows_default();
  line.option("--seeds", study.seeds, "of the runs at each point that was found").whole(1, 10000).shows_default();
  line.option("--orthogonality-workers", options.orthogonality_workers,
              "with which orthogonality and the errors against sequential steps are measured")
      .whole(2, 1024)
      .shows_default();
  line.option("--sequential-rate", options.sequential_rate,
              "learning rate of SGD for the errors against sequential steps")
      .real(1e-9, 1e9)
      .shows_default();
  line.option("--seed", study.seed, "of points and runs").whole(0, UINT64_MAX / 2).shows_default();
  line.option("--jobs", study.jobs, "runs at a time").whole(0, 1024).shows_default();
  line.option("--out", study.folder, "folder for the journals and the report").shows_default();
  line.flag("--quick", options.quick, "a small study, to see that the program works");
  line.parse(argc, argv);
  try {
    if (options.quick) {
      options.submissions = {"momentum"}, options.most = 4, options.orthogonality_workers = 4;
      study.trials = 2, study.widenings = 0, study.seeds = 2, study.examples = 4000;
      study.folder += "/quick";
    }
    study.workers = ap::powers_of_two(1, options.most);
    study.runner = runner_of_mpirun();
    run(options, all);
  } catch (const std::exception& error) {
    fmt::print(stderr, "adasum_scaling: {}\n", error.what());
    end_other_ranks();
    return 1;
  }
}
