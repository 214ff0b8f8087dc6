#pragma once

#include <cmath>
#include <cstddef>

#include "../core/error.hpp"

namespace algoperf {

// Returns P(X > x) for a chi-square variable X with `freedom` degrees of freedom, by the finite sums of Abramowitz &
// Stegun 1964, 26.4.4 and 26.4.5.
inline double chi_square_above(double x, std::size_t freedom) {
  if (x <= 0) return 1;
  const double half = x / 2;
  double sum = freedom % 2 == 1 ? std::erfc(std::sqrt(half)) : 0;
  for (double s = static_cast<double>(freedom) / 2 - 1; s >= 0; --s)
    sum += std::exp(s * std::log(half) - half - std::lgamma(s + 1));
  return sum;
}

// Returns the x that X exceeds with probability `above`. Throws Error if it is not in (0, 1) or freedom is 0.
inline double chi_square_quantile(double above, std::size_t freedom) {
  require(above > 0 && above < 1, "chi_square_quantile: the probability is ", above, ", expected (0, 1)");
  require(freedom >= 1, "chi_square_quantile: freedom is 0, expected at least 1");
  double low = 0, high = 1;
  while (chi_square_above(high, freedom) > above) low = high, high *= 2;
  for (int i = 0; i < 200 && low < high; ++i) {
    const double middle = 0.5 * (low + high);
    if (middle == low || middle == high) break;
    (chi_square_above(middle, freedom) > above ? low : high) = middle;
  }
  return high;
}

}  // namespace algoperf
