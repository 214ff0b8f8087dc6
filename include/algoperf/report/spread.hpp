// Spread: the median of numbers, and their range.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "../core/error.hpp"

namespace algoperf {

struct Spread {
  double median = 0, low = 0, high = 0;
};

// Of at least one value; an even count takes the mean of the middle two. NaN counts as the highest.
inline Spread spread(std::vector<double> values) {
  require(!values.empty(), "spread: there are no values");
  std::sort(values.begin(), values.end(), [](double a, double b) { return a < b || (a == a && b != b); });
  const std::size_t n = values.size();
  return {n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2, values.front(), values.back()};
}

}  // namespace algoperf
