// What a run tells: reports for observers, and how it ended.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../core/step.hpp"

namespace algoperf {

// After a step.
struct StepReport {
  Step now{0, 0};               // t is 0 before the first step
  double loss = 0;              // mean over the step's examples
  std::uint64_t examples = 0;   // seen so far
  double training_seconds = 0;  // selecting, gathering, gradients, combination and update; nothing else
};

// After an evaluation.
struct EvaluationReport {
  std::uint64_t step = 0;
  double loss = 0;    // mean over the data set, by the training loss
  double metric = 0;  // mean over the data set
  const char* metric_name = "";
  bool lower_is_better = true;
  double training_seconds = 0;    // includes making the parameters to evaluate with (averages)
  double evaluation_seconds = 0;  // all evaluations so far, off the training clock
};

// Why a run ended: go_on if a step threw. Observers return go_on, or the reason to stop.
enum class Control : std::uint8_t { go_on, target_reached, budget_spent, interrupted };

constexpr const char* describe(Control control) {
  switch (control) {
    case Control::go_on:
      return "going on";
    case Control::target_reached:
      return "target reached";
    case Control::budget_spent:
      return "budget spent";
    case Control::interrupted:
      return "interrupted";
  }
  return "";
}

struct RunReport {
  Control reason = Control::go_on;
  StepReport last;
  bool evaluated = false;
  EvaluationReport best;  // the evaluation with the best metric, the first of equals; valid if evaluated
  double evaluation_seconds = 0;
  bool target_reached() const { return reason == Control::target_reached; }
};

}  // namespace algoperf
