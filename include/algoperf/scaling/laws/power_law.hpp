#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "weighted_points.hpp"

namespace algoperf {

// M1 of Alabdulmohsin et al. 2022 (arXiv:2209.06640): y = b x^c, a line in logarithms. With c < 0 it describes the
// power-law region of a learning curve (Hestness et al. 2017, eq. 1).
struct PowerLaw {
  static constexpr std::size_t variables = 1, parameters = 2, linear = 1;
  static constexpr std::array<const char*, 2> names = {"b", "c"};
  static constexpr const char* formula = "y = b x^c";

  // theta = log b, c.
  template <class T>
  static T log_value(const std::array<double, 1>& log_x, const std::array<T, 2>& theta) {
    return theta[0] + theta[1] * log_x[0];
  }
  static std::array<double, 2> from_theta(const std::array<double, 2>& t) { return {std::exp(t[0]), t[1]}; }

  template <class Points>
  static std::vector<std::array<double, 2>> starts(const Points& points) {
    const Line line = least_squares_line(points, detail::log_x, detail::log_y);
    return {{line.intercept, line.slope}};
  }
};

}  // namespace algoperf
