#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "../core/error.hpp"

namespace algoperf {

// `count` numbers from first to last, both included, each the same multiple of the one before: numpy's geomspace. first
// and last are positive and finite; one number is first alone.
inline std::vector<double> geometric(double first, double last, std::size_t count) {
  require(first > 0 && first < HUGE_VAL && last > 0 && last < HUGE_VAL, "geometric: the ends are ", first, " and ",
          last, ", expected positive numbers");
  std::vector<double> numbers;
  const double intervals = static_cast<double>(count) - 1;
  for (std::size_t i = 0; i < count; ++i)
    numbers.push_back(first * std::pow(last / first, i == 0 ? 0 : static_cast<double>(i) / intervals));
  if (count > 1) numbers.back() = last;
  return numbers;
}

}  // namespace algoperf
