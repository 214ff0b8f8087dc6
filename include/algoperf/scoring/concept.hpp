// Scoring: times to target, performance profiles and benchmark scores, computed from the logs of training runs. Nothing
// here trains, so logs of any program can be scored.
//
//   a workload     a task with a metric on validation data and a target; its variants change the task a little
//   a submission   a training algorithm
//   a trial        one training run of a submission on a workload, with one point of its hyperparameters
//   a study        the trials of one tuning: the best trial counts. Studies are repeated, and their median counts
//
// Source: Dahl et al. 2023, "Benchmarking Neural Network Training Algorithms", arXiv:2306.07179, section 4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "../core/error.hpp"
#include "../core/target.hpp"

namespace algoperf {

// One evaluation of a trial.
struct Evaluation {
  std::uint64_t index = 0;  // among the evaluations of the trial, from 0
  double step = 0;          // optimizer steps before it
  double seconds = 0;       // training time before it
  double metric = 0;        // on validation data; NaN reaches no target
  // Examples and floating-point operations before it, NaN if they are not known.
  double examples = std::numeric_limits<double>::quiet_NaN();
  double flops = std::numeric_limits<double>::quiet_NaN();
};

struct TrialLog {
  std::string submission, workload;
  std::uint64_t study = 0, trial = 0;
  std::vector<Evaluation> evaluations = {};  // in the order of their steps
  // Seconds of the whole trial, NaN if they are not known.
  double training_seconds = std::numeric_limits<double>::quiet_NaN();
  double evaluation_seconds = std::numeric_limits<double>::quiet_NaN();
};

struct ScoredWorkload {
  std::string name;
  std::string base;    // the workload of which this is a held-out variant, or `name`
  std::string metric;  // the name of the metric, such as "ssim"
  Target target = {};
  bool is_base() const { return base == name; }
};

// The workloads that are scored together.
struct Suite {
  std::string name;
  std::vector<ScoredWorkload> workloads = {};
  std::size_t studies = 0, trials = 0;  // expected per submission and workload; 0: unknown

  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  // Returns the index of a workload, or `none`.
  std::size_t find(const std::string& workload) const {
    for (std::size_t i = 0; i < workloads.size(); ++i)
      if (workloads[i].name == workload) return i;
    return none;
  }
  std::size_t base_count() const {
    std::size_t count = 0;
    for (const ScoredWorkload& workload : workloads) count += workload.is_base();
    return count;
  }
  // Throws Error, naming the workload, if two have one name, or if a variant's base is not in the suite.
  void check() const {
    require(base_count() > 0, name, ": the suite has no base workload");
    for (std::size_t i = 0; i < workloads.size(); ++i) {
      require(find(workloads[i].name) == i, name, ": workload '", workloads[i].name, "' is listed twice");
      const std::size_t base = find(workloads[i].base);
      require(base != none && workloads[base].is_base(), name, ": workload '", workloads[i].name, "' is a variant of '",
              workloads[i].base, "', which is not a base workload of the suite");
      require(workloads[i].target.value == workloads[i].target.value, name, ": the target of '", workloads[i].name,
              "' is NaN");
    }
  }
};

}  // namespace algoperf
