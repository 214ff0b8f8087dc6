// Spread: the median of values, and their range.
#pragma once

#include <algorithm>
#include <vector>

#include "../core/error.hpp"
#include "../core/median.hpp"

namespace algoperf {

struct Spread {
  double median = 0, low = 0, high = 0;
};

// Returns the spread of at least one value. NaN sorts as the highest value.
inline Spread spread(const std::vector<double>& values) {
  require(!values.empty(), "spread: there are no values");
  const auto [low, high] =
      std::minmax_element(values.begin(), values.end(), [](double a, double b) { return a < b || (a == a && b != b); });
  return {median(values), *low, *high};
}

}  // namespace algoperf
