#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "../fit/jet.hpp"
#include "weighted_points.hpp"

namespace algoperf {

// M2: y = e + b x^-c, a power law with a floor e, the irreducible error (Hestness et al. 2017; Rosenfeld et al.
// 2020). fit() fits log y, so e cannot be negative. If the optimal e tends to 0, the fitted e is 0 up to rounding.
struct PowerLawWithFloor {
  static constexpr std::size_t variables = 1, parameters = 3, linear = 2;
  static constexpr std::array<const char*, 3> names = {"e", "b", "c"};
  static constexpr const char* formula = "y = e + b x^-c";

  // theta = log e, log b, c.
  template <class T>
  static std::array<T, 2> log_terms(const std::array<double, 1>& log_x, const std::array<T, 3>& theta) {
    return {theta[0], theta[1] - theta[2] * log_x[0]};
  }
  template <class T>
  static T log_value(const std::array<double, 1>& log_x, const std::array<T, 3>& theta) {
    return jets::log_sum_exp(log_terms(log_x, theta));
  }
  static std::array<double, 3> from_theta(const std::array<double, 3>& t) {
    return {std::exp(t[0]), std::exp(t[1]), t[2]};
  }

  // Uses floors at fractions of the minimum y. Given a floor, log(y - e) is a line in log x, fitted by least squares.
  template <class Points>
  static std::vector<std::array<double, 3>> starts(const Points& points) {
    const double least = extent(points, detail::log_y).least;
    std::vector<std::array<double, 3>> all;
    for (const double share : {0.001, 0.1, 0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999}) {
      const double floor = share * std::exp(least);
      const Line line =
          least_squares_line(points, detail::log_x, [&](const auto& p) { return std::log(std::exp(p.log_y) - floor); });
      all.push_back({std::log(floor), line.intercept, -line.slope});
    }
    return all;
  }
};

}  // namespace algoperf
