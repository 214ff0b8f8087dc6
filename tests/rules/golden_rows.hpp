// Compares the values that a rule computed with a row of golden values.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "../golden/rules.hpp"
#include "../support/near.hpp"

namespace algoperf::testing {

inline void golden_gradient(std::uint64_t t, const std::vector<double>& p, std::vector<double>& g) {
  for (std::size_t i = 0; i < p.size(); ++i) g[i] = golden::gradient(static_cast<int>(t), static_cast<int>(i), p[i]);
}

// Returns the largest relative error of a value. In double, errors are relative to the expected value. In float, they
// are relative to the largest value of the row, because a gradient of 1 has a rounding error of 6e-8 and the small
// values among the 22 of a row are differences of larger ones.
template <class S, std::size_t N>
double error_of(const std::vector<S>& values, const double (&expected)[N]) {
  double largest = 0, error = 0;
  for (const double e : expected) largest = std::max(largest, std::abs(e));
  for (std::size_t i = 0; i < N; ++i) {
    const double scale = std::is_same_v<S, double> ? std::abs(expected[i]) : largest;
    error = larger_or_nan(error, std::abs(static_cast<double>(values[i]) - expected[i]) / scale);
  }
  return error;
}

template <class S>
constexpr double tolerance = std::is_same_v<S, double> ? 1e-12 : 1e-5;

template <class S, std::size_t N>
void check_row(const char* rule, const std::vector<S>& values, const double (&expected)[N]) {
  const double error = error_of(values, expected);
  CHECK_MESSAGE(error <= tolerance<S>, std::string(rule), ": largest error ", error);
  if (std::getenv("ALGOPERF_PRINT_ERRORS") != nullptr) std::printf("%s %s %.1e\n", typeid(S).name(), rule, error);
}

}  // namespace algoperf::testing
