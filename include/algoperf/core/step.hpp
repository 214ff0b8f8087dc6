// Step: what every stage is told about the moment of an update.
#pragma once

#include <cstdint>

#include "config.hpp"

namespace algoperf {

// t counts updates from 1, as the papers do; a schedule is asked for t - 1. learning_rate is the schedule's answer.
// Both must be given: a rule refuses a step without.
struct Step {
  std::uint64_t t = 0;
  double learning_rate = __builtin_nan("");
};

}  // namespace algoperf
