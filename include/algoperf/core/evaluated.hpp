#pragma once

#include <cstdint>

#include "config.hpp"

namespace algoperf::detail {

// The fields of an EvaluationReport (loop/report.hpp) that a schedule may react to. Code that takes a schedule but
// passes it no evaluations uses this type to detect and reject a schedule that accepts them.
struct Evaluated {
  std::uint64_t step;
  double loss, metric;
  bool lower_is_better;
};

}  // namespace algoperf::detail
