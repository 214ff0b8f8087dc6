// Reports on trials. A Trial records one run: its rule, its seed, the result of each evaluation, and how the run
// ended. Trials are summarised (summary.hpp), tabulated (table.hpp), logged (csv.hpp, json.hpp) and plotted
// (plot.hpp).
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "../core/target.hpp"
#include "../loop/report.hpp"

namespace algoperf {

struct Trial {
  std::string rule;
  std::uint64_t seed = 0;
  Target target;
  RunReport run = {};
  std::vector<EvaluationReport> evaluations = {};
  std::string failure = {};  // message of the exception that ended the run, or empty; `run` is the state then

  // Returns the first evaluation that reached the target, or null.
  const EvaluationReport* hit() const {
    for (const EvaluationReport& e : evaluations)
      if (target.reached_by(e.metric)) return &e;
    return nullptr;
  }
  // Return infinity if the target was missed.
  double steps_to_target() const { return hit() ? static_cast<double>(hit()->step) : missed; }
  double seconds_to_target() const { return hit() ? hit()->training_seconds : missed; }

  static constexpr double missed = std::numeric_limits<double>::infinity();
};

}  // namespace algoperf
