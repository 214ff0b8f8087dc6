// What report/ is about. A Trial is one run, told: which rule, which seed, what each evaluation found, how it ended.
// Trials are summed up (summary.hpp), tabulated (table.hpp), logged (csv.hpp, json.hpp) and drawn (plot.hpp).
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
  std::string failure = {};  // what the run threw (it diverged, say, and `run` is what it had found); empty if nothing

  // The first evaluation at the target, or null.
  const EvaluationReport* hit() const {
    for (const EvaluationReport& e : evaluations)
      if (target.reached_by(e.metric)) return &e;
    return nullptr;
  }
  // Infinite where the target was missed.
  double steps_to_target() const { return hit() ? static_cast<double>(hit()->step) : missed; }
  double seconds_to_target() const { return hit() ? hit()->training_seconds : missed; }

  static constexpr double missed = std::numeric_limits<double>::infinity();
};

}  // namespace algoperf
