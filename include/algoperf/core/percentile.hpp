#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "error.hpp"

namespace algoperf {

// An interval intended to contain a value with some probability.
struct Interval {
  double low = 0, high = 0;
};

// Returns the interval between the (1 - level) / 2 and (1 + level) / 2 quantiles, interpolated linearly between
// neighbours as numpy does. Values may be infinite. Throws Error if level is not in (0, 1), if there are no values,
// or if a value is NaN.
inline Interval percentile_interval(std::vector<double> values, double level) {
  require(level > 0 && level < 1, "percentile_interval: level is ", level, ", expected (0, 1)");
  require(!values.empty(), "percentile_interval: there are no values");
  for (const double value : values) require(!std::isnan(value), "percentile_interval: a value is NaN");
  std::sort(values.begin(), values.end());
  const auto quantile = [&](double q) {
    const double at = q * static_cast<double>(values.size() - 1);
    const std::size_t i = static_cast<std::size_t>(at);
    const std::size_t j = i + 1 < values.size() ? i + 1 : i;
    const double share = at - std::floor(at);
    return share == 0 || values[i] == values[j] ? values[i]
           : std::isinf(values[i])              ? values[i]
                                                : (1 - share) * values[i] + share * values[j];
  };
  return {quantile((1 - level) / 2), quantile((1 + level) / 2)};
}

}  // namespace algoperf
