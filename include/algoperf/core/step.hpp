// Step: the step count and learning rate of an update, passed to every stage.
#pragma once

#include <cstdint>

#include "config.hpp"

namespace algoperf {

// t counts updates from 1, as in the papers. learning_rate is the schedule's value at t - 1. Both must be set: a rule
// throws Error if either is missing.
struct Step {
  std::uint64_t t = 0;
  double learning_rate = __builtin_nan("");
};

}  // namespace algoperf
