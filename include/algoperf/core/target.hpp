// Target: the metric value that ends a time-to-target run, and which side of it is better.
#pragma once

#include "config.hpp"

namespace algoperf {

struct Target {
  double value = 0;
  bool lower_is_better = true;
  // Reached on equality, as AlgoPerf's scoring has it. NaN reaches nothing.
  constexpr bool reached_by(double metric) const { return lower_is_better ? metric <= value : metric >= value; }
  friend constexpr bool operator==(const Target&, const Target&) = default;
};

// Whether metric a beats b; any number beats NaN.
constexpr bool better(double a, double b, bool lower_is_better) {
  return b != b ? a == a : (lower_is_better ? a < b : a > b);
}

}  // namespace algoperf
