#pragma once

#include <cstdint>

#include "config.hpp"

namespace algoperf::detail {

// As much of an EvaluationReport (loop/report.hpp) as a schedule that reacts may ask for: whoever takes a schedule and
// tells it nothing refuses one that can be told this.
struct Evaluated {
  std::uint64_t step;
  double loss, metric;
  bool lower_is_better;
};

}  // namespace algoperf::detail
