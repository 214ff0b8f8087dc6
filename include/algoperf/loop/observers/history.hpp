#pragma once

#include <vector>

#include "../concept.hpp"

namespace algoperf {

// Keeps every evaluation of a run, in the caller's vector.
struct History {
  std::vector<EvaluationReport>& evaluations;
  template <class Run>
  Control after_evaluation(Run&, const EvaluationReport& report) const {
    evaluations.push_back(report);
    return Control::go_on;
  }
};

}  // namespace algoperf
