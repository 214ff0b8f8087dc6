#pragma once

#include <cmath>
#include <ostream>

// Compares with a purely relative tolerance. doctest's Approx adds the tolerance times 1, which hides errors of small
// values.
struct Near {
  double expected, share;
  friend bool operator==(double number, const Near& near) {
    return std::fabs(number - near.expected) <= near.share * std::fabs(near.expected);
  }
  friend std::ostream& operator<<(std::ostream& out, const Near& near) {
    return out << near.expected << " within " << near.share << " of it";
  }
};

inline Near near(double expected, double share = 1e-5) { return {expected, share}; }

// Returns the larger number, or NaN if either is. With std::max or std::fmax, the largest error of results that are NaN
// would be that of the others.
inline double larger_or_nan(double a, double b) { return std::isnan(a) || a > b ? a : b; }
