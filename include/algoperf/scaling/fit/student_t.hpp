#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>

#include "../../core/error.hpp"

namespace algoperf {

// Returns P(|T| <= t) for Student's t distribution with `freedom` degrees of freedom, by the finite sums of
// Abramowitz & Stegun 1964, 26.7.3 and 26.7.4.
inline double student_t_within(double t, std::size_t freedom) {
  const double angle = std::atan(t / std::sqrt(static_cast<double>(freedom))), c = std::cos(angle);
  const bool odd = freedom % 2 == 1;
  double term = odd ? c : 1, sum = freedom > 1 ? term : 0;
  for (std::size_t k = odd ? 3 : 2; k < freedom; k += 2) {
    term *= c * c * (static_cast<double>(k) - 1) / static_cast<double>(k);
    sum += term;
  }
  return odd ? 2 / std::numbers::pi * (angle + std::sin(angle) * sum) : std::sin(angle) * sum;
}

// Returns the t that |T| exceeds with probability 1 - level. Throws Error if level is not in (0, 1) or freedom is 0.
inline double student_t_quantile(double level, std::size_t freedom) {
  require(level > 0 && level < 1, "student_t_quantile: level is ", level, ", expected (0, 1)");
  require(freedom >= 1, "student_t_quantile: freedom is 0, expected at least 1");
  double low = 0, high = 1;
  while (student_t_within(high, freedom) < level) low = high, high *= 2;
  for (int i = 0; i < 100 && low < high; ++i) {
    const double middle = 0.5 * (low + high);
    (student_t_within(middle, freedom) < level ? low : high) = middle;
  }
  return high;
}

}  // namespace algoperf
