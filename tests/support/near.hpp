#pragma once

#include <cmath>
#include <ostream>

// A number within a share of the expected one, and nothing else: doctest's Approx allows the share of 1 besides, in
// which small numbers vanish.
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
