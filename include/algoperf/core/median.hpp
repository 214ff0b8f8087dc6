// median: the middle of a list of numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "error.hpp"

namespace algoperf {

// Returns the median of at least one value. The median of an even count is the mean of the middle two. Values may be
// infinite; NaN sorts as the highest value.
inline double median(std::vector<double> values) {
  require(!values.empty(), "median: there are no values");
  const auto less = [](double a, double b) { return a < b || (a == a && b != b); };
  const std::size_t half = values.size() / 2;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(half);
  std::nth_element(values.begin(), middle, values.end(), less);
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle, less) + *middle) / 2;
}

}  // namespace algoperf
