#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "../core/error.hpp"

namespace algoperf {

// Returns `count` values from first to last, both included, with a constant ratio between neighbours, as
// numpy.geomspace does. If count is 1, the only value is first. Throws Error unless first and last are positive and
// finite.
inline std::vector<double> geometric(double first, double last, std::size_t count) {
  require(first > 0 && first < HUGE_VAL && last > 0 && last < HUGE_VAL, "geometric: the ends are ", first, " and ",
          last, ", expected positive numbers");
  std::vector<double> numbers;
  const double intervals = static_cast<double>(count) - 1, ratio = last / first;
  const bool beyond = ratio < 1e-300 || ratio > 1e300;
  for (std::size_t i = 0; i < count; ++i) {
    const double share = static_cast<double>(i) / std::fmax(intervals, 1);
    numbers.push_back(beyond ? std::exp((1 - share) * std::log(first) + share * std::log(last))
                             : first * std::pow(ratio, share));
  }
  if (count > 0) numbers.front() = first;
  if (count > 1) numbers.back() = last;
  return numbers;
}

}  // namespace algoperf
