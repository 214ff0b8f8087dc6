#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "../fit/jet.hpp"
#include "weighted_points.hpp"

namespace algoperf {

// M3: y = b (1/x + g)^c with c > 0, a power law that bends into the floor b g^c (M3 of Alabdulmohsin et al. 2022,
// arXiv:2209.06640).
struct ShiftedPowerLaw {
  static constexpr std::size_t variables = 1, parameters = 3, linear = 1;
  static constexpr std::array<const char*, 3> names = {"b", "g", "c"};
  static constexpr const char* formula = "y = b (1/x + g)^c";

  // theta = log b, log g, c.
  template <class T>
  static T log_value(const std::array<double, 1>& log_x, const std::array<T, 3>& theta) {
    return theta[0] + theta[2] * jets::log_sum_exp(std::array<T, 2>{T(-log_x[0]), theta[1]});
  }
  static std::array<double, 3> from_theta(const std::array<double, 3>& t) {
    return {std::exp(t[0]), std::exp(t[1]), t[2]};
  }

  // Uses values of 1/g from far beyond the largest x down to the smallest x. Given g, log y is a line in log(1/x +
  // g), fitted by least squares.
  template <class Points>
  static std::vector<std::array<double, 3>> starts(const Points& points) {
    const auto [first, last] = extent(points, detail::log_x);
    std::vector<std::array<double, 3>> all;
    for (int i = 0; i < 10; ++i) {
      const double log_g = -(last + 7) + i * (last + 7 - first) / 9;
      const Line line = least_squares_line(
          points,
          [&](const auto& p) {
            return jets::log_sum_exp(std::array<double, 2>{-p.log_x[0], log_g});
          },
          detail::log_y);
      all.push_back({line.intercept, log_g, line.slope});
    }
    return all;
  }
};

}  // namespace algoperf
