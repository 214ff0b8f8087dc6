// Target: the metric value that ends a time-to-target run, and whether lower or higher values are better.
#pragma once

#include "config.hpp"

namespace algoperf {

struct Target {
  double value = 0;
  bool lower_is_better = true;
  // A metric equal to `value` reaches the target, as in AlgoPerf's scoring. NaN never does.
  constexpr bool reached_by(double metric) const { return lower_is_better ? metric <= value : metric >= value; }
  friend constexpr bool operator==(const Target&, const Target&) = default;
};

// Whether metric a is better than b. Any other value is better than NaN.
constexpr bool better(double a, double b, bool lower_is_better) {
  return b != b ? a == a : (lower_is_better ? a < b : a > b);
}

}  // namespace algoperf
