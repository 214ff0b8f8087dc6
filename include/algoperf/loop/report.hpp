// What a run tells: reports for observers, and how it ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "../core/step.hpp"

namespace algoperf {

// After a step.
struct StepReport {
  Step now{0, 0};                  // t is 0 before the first step
  std::optional<double> loss = 0;  // mean over the step's examples of weight times loss; empty while a device has it
  std::uint64_t examples = 0;      // seen so far
  double training_seconds = 0;     // selecting, gathering, gradients, combination and update; nothing else
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
  std::size_t source = 0;         // which of the run's observers that evaluate, in their order
};

// What an observer evaluates by.
struct MetricFacts {
  const char* name = "";  // empty if it does not say
  bool lower_is_better = true;
};

// Why a run ended. Observers return go_on, or the reason to stop; diverged is the loop's own, when it throws Diverged.
enum class Control : std::uint8_t { go_on, target_reached, budget_spent, interrupted, diverged };

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
    case Control::diverged:
      return "diverged";
  }
  return "";
}

struct RunReport {
  Control reason = Control::go_on;  // go_on while it runs, and if something else than Diverged was thrown
  StepReport last;                  // the last whole step, of an earlier run if this one made none
  bool evaluated = false;
  EvaluationReport best;  // the first observer's that evaluates: the best metric, the first of equals; if evaluated
  double evaluation_seconds = 0;
  bool target_reached() const { return reason == Control::target_reached; }
  // The step whose loss was not finite; 0 if the run did not diverge.
  std::uint64_t diverged_at() const { return reason == Control::diverged ? last.now.t + 1 : 0; }
};

}  // namespace algoperf
