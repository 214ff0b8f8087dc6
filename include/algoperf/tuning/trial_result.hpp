// What a trial records.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../loop/report.hpp"

namespace algoperf {

// An evaluation and the work that training had done before it.
struct TrialEvaluation : EvaluationReport {
  std::uint64_t examples = 0;
  double flops = 0;
};

struct TrialResult {
  std::vector<TrialEvaluation> evaluations;  // on validation data: after step 1, periodically and at the end
  std::uint64_t steps = 0, examples = 0;
  double flops = 0;  // of forward and backward passes, those of second gradients (sam) and line searches included
  double training_seconds = 0;  // the clock that scores
  double evaluation_seconds = 0;
  double first_step_seconds = 0;  // part of training_seconds
  double total_seconds = 0;       // with setting up
  bool reached = false;           // the target
  std::string failure = {};       // why the trial ended early, or empty
};

}  // namespace algoperf
