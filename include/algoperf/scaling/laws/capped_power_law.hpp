#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "../fit/jet.hpp"
#include "weighted_points.hpp"

namespace algoperf {

// y = g / (1 + (x / d)^c): BoundedPowerLaw without a floor. y is near g, the error of guessing, until x reaches about
// d; then it follows a power law.
struct CappedPowerLaw {
  static constexpr std::size_t variables = 1, parameters = 3, linear = 1;
  static constexpr std::array<const char*, 3> names = {"g", "d", "c"};
  static constexpr const char* formula = "y = g / (1 + (x / d)^c)";

  // theta = log g, log d, c.
  template <class T>
  static T log_value(const std::array<double, 1>& log_x, const std::array<T, 3>& theta) {
    return theta[0] - jets::softplus(theta[2] * (log_x[0] - theta[1]));
  }
  static std::array<double, 3> from_theta(const std::array<double, 3>& t) {
    return {std::exp(t[0]), std::exp(t[1]), t[2]};
  }

  // Uses guessing errors g above the maximum y. Given g, log(g / y - 1) is a line in log x, fitted by least squares.
  template <class Points>
  static std::vector<std::array<double, 3>> starts(const Points& points) {
    const double most = extent(points, detail::log_y).most;
    std::vector<std::array<double, 3>> all;
    for (const double beyond : {1.02, 1.3, 4.0}) {
      const double top = beyond * std::exp(most);
      const Line line = least_squares_line(points, detail::log_x,
                                           [&](const auto& p) { return std::log(top * std::exp(-p.log_y) - 1); });
      const double c = line.slope != 0 ? line.slope : 1;
      all.push_back({std::log(top), -line.intercept / c, c});
    }
    return all;
  }
};

}  // namespace algoperf
