#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "../fit/jet.hpp"
#include "weighted_points.hpp"

namespace algoperf {

// y = e + g / (1 + (x / d)^c): a whole learning curve. y is near e + g, the error of guessing, until x reaches about
// d; then it follows a power law; then it approaches the floor e. This is M4 (SigmoidPowerLaw) with alpha = 1, in the
// parameters that regions.hpp needs.
struct BoundedPowerLaw {
  static constexpr std::size_t variables = 1, parameters = 4, linear = 2;
  static constexpr std::array<const char*, 4> names = {"e", "g", "d", "c"};
  static constexpr const char* formula = "y = e + g / (1 + (x / d)^c)";

  // theta = log e, log g, log d, c.
  template <class T>
  static std::array<T, 2> log_terms(const std::array<double, 1>& log_x, const std::array<T, 4>& theta) {
    return {theta[0], theta[1] - jets::softplus(theta[3] * (log_x[0] - theta[2]))};
  }
  template <class T>
  static T log_value(const std::array<double, 1>& log_x, const std::array<T, 4>& theta) {
    return jets::log_sum_exp(log_terms(log_x, theta));
  }
  static std::array<double, 4> from_theta(const std::array<double, 4>& t) {
    return {std::exp(t[0]), std::exp(t[1]), std::exp(t[2]), t[3]};
  }

  // Combines floors below the minimum y with guessing errors above the maximum y. Given both, log((e + g - y) / (y -
  // e)) is a line in log x, fitted by least squares.
  template <class Points>
  static std::vector<std::array<double, 4>> starts(const Points& points) {
    const auto [least, most] = extent(points, detail::log_y);
    std::vector<std::array<double, 4>> all;
    for (const double share : {0.01, 0.5, 0.9})
      for (const double beyond : {1.02, 1.3, 4.0}) {
        const double floor = share * std::exp(least), top = beyond * std::exp(most);
        const Line line = least_squares_line(points, detail::log_x, [&](const auto& p) {
          return std::log((top - std::exp(p.log_y)) / (std::exp(p.log_y) - floor));
        });
        const double c = line.slope != 0 ? line.slope : 1;
        all.push_back({std::log(floor), std::log(top - floor), -line.intercept / c, c});
      }
    return all;
  }
};

}  // namespace algoperf
