// Spread: the median of values, and their range.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "../core/error.hpp"

namespace algoperf {

struct Spread {
  double median = 0, low = 0, high = 0;
};

// Returns the spread of at least one value. The median of an even count is the mean of the middle two. NaN sorts as
// the highest value.
inline Spread spread(std::vector<double> values) {
  require(!values.empty(), "spread: there are no values");
  std::sort(values.begin(), values.end(), [](double a, double b) { return a < b || (a == a && b != b); });
  const std::size_t n = values.size();
  return {n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2, values.front(), values.back()};
}

}  // namespace algoperf
