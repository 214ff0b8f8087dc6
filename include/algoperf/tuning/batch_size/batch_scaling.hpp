// BatchScaling: what a study of batch sizes measured of one submission on one workload.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../../scoring/concept.hpp"
#include "../search_space.hpp"
#include "batch_study.hpp"

namespace algoperf {

// A range that was widened because the best point of the search so far lay at its edge.
struct Widening {
  std::size_t batch = 0;
  std::string hyperparameter;
  double best = 0;          // its value at that point
  double from = 0, to = 0;  // the strip that was searched as well
  bool moved = false;       // whether the best point is in the strip
};

// The trials of one submission on one workload.
struct BatchScaling {
  std::string submission;
  ScoredWorkload workload;
  std::size_t examples = 0;                 // of training data
  SearchSpace space;                        // before it was widened
  std::vector<BatchStudy> studies = {};     // by batch size
  std::vector<std::uint64_t> budgets = {};  // steps, by batch size
  std::vector<Widening> widenings = {};
  std::vector<std::string> failures = {};  // of trials that ended in another way than by divergence

  Goal goal() const { return {workload.target.value, workload.target.lower_is_better, true}; }
};

}  // namespace algoperf
