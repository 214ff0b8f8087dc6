#pragma once

#include "config.hpp"

namespace algoperf::detail {

// Returns log2(x) for x >= 1, in constant evaluation, too: std::log2 is not constexpr. Squares the remainder once per
// binary digit.
constexpr double binary_logarithm(double x) {
  double result = 0;
  for (; x >= 2; x /= 2) ++result;
  for (double digit = 0.5; digit > 1e-16; digit /= 2) {
    x *= x;
    if (x >= 2) {
      x /= 2;
      result += digit;
    }
  }
  return result;
}

}  // namespace algoperf::detail
