// Reports of a run: after each step, after each evaluation, and at its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../core/step.hpp"

namespace algoperf {

// The report after a step.
struct StepReport {
  Step now{0, 0};                  // t is 0 before the first step
  std::optional<double> loss = 0;  // mean of weight times loss over the step's examples; empty if not yet read
  std::uint64_t examples = 0;      // processed so far
  double training_seconds = 0;     // steps (selecting to updating), averaging parameters, copying data to a device
  // The 2-norm of the gradient that the rule received, if the loop measures it (TrainingLoop::measure_gradient_norm).
  std::optional<double> gradient_norm = {};
};

// The report after an evaluation.
struct EvaluationReport {
  std::uint64_t step = 0;
  double loss = 0;    // mean of the training loss over the data set
  double metric = 0;  // of the whole data set
  const char* metric_name = "";
  bool lower_is_better = true;
  double training_seconds = 0;    // includes computing averaged parameters
  double evaluation_seconds = 0;  // of all evaluations so far, not part of training_seconds
  std::size_t source = 0;         // index of the observer among the run's evaluating observers
};

// The metric that an observer evaluates.
struct MetricFacts {
  const char* name = "";  // empty if the observer does not declare it
  bool lower_is_better = true;
};

// Why a run ended. Observers return go_on or a reason to stop. The loop sets diverged when it throws Diverged.
enum class Control : std::uint8_t { go_on, target_reached, budget_spent, interrupted, diverged };

constexpr const char* describe(Control control) {
  switch (control) {
    case Control::go_on:
      return "running";
    case Control::target_reached:
      return "target reached";
    case Control::budget_spent:
      return "budget spent";
    case Control::interrupted:
      return "interrupted";
    case Control::diverged:
      return "diverged";
  }
  return "";
}

struct RunReport {
  Control reason = Control::go_on;  // go_on during the run, and if an exception other than Diverged ended it
  StepReport last;                  // the last completed step; of an earlier run if this run completed none
  bool evaluated = false;
  EvaluationReport best;  // valid if `evaluated`: the best by the first evaluating observer; of ties, the first
  double evaluation_seconds = 0;
  std::string resumed_from = {};           // the checkpoint that the run continued from; empty if there was none
  std::uint64_t resumed_at = 0;            // its step
  std::uint64_t failed_saves = 0;          // checkpoints that could not be written while the run went on
  std::vector<std::string> warnings = {};  // sentences that warn() reported (core/warn.hpp)
  bool target_reached() const { return reason == Control::target_reached; }
  // Returns the step whose loss was not finite, or 0 if the run did not diverge.
  std::uint64_t diverged_at() const { return reason == Control::diverged ? last.now.t + 1 : 0; }
};

}  // namespace algoperf
