// Step: what every stage is told about the moment of an update.
#pragma once

#include <cstdint>

namespace algoperf {

// t counts updates from 1, as the papers do; a schedule is asked for t - 1. learning_rate is the schedule's answer.
struct Step {
  std::uint64_t t = 1;
  double learning_rate = 0;
};

}  // namespace algoperf
