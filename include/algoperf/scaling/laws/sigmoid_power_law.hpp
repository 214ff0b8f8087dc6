#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "../fit/jet.hpp"
#include "weighted_points.hpp"

namespace algoperf {

// M4: (y - e_inf) / (e_0 - y)^alpha = b x^c (Alabdulmohsin et al. 2022, arXiv:2209.06640). For small x, y is near
// e_0, the error of guessing. Then y follows a power law, down to the floor e_inf. fit() fits log y, as for the other
// laws. The paper instead minimises the distance between the two sides of the equation; the optimum of that objective
// is at e_inf = 0 for any data.
struct SigmoidPowerLaw {
  static constexpr std::size_t variables = 1, parameters = 5;
  static constexpr std::array<const char*, 5> names = {"e_inf", "e_0", "alpha", "b", "c"};
  static constexpr const char* formula = "(y - e_inf) / (e_0 - y)^alpha = b x^c";

  // theta = log e_inf, log(e_0 - e_inf), log alpha, log b + (alpha - 1) log(e_0 - e_inf), c. With y = e_inf + (e_0 -
  // e_inf) / (1 + e^-z) the law becomes g(z) = theta[3] + theta[4] log x, where
  // g(z) = alpha log(1 + e^z) - log(1 + e^-z) is increasing. log_value solves this equation for z by Newton's method.
  template <class T>
  static T log_value(const std::array<double, 1>& log_x, const std::array<T, 5>& theta) {
    const T alpha = jets::exp(theta[2]), level = theta[3] + theta[4] * log_x[0];
    const double a = jets::value(alpha), goal = jets::value(level);
    double z = goal < 0 ? goal : goal / a;  // start on the asymptotes of g
    for (int i = 0; i < 60; ++i) {
      const double p = 1 / (1 + std::exp(-z)),
                   step = (goal + jets::softplus(-z) - a * jets::softplus(z)) / (1 - p + a * p);
      z += step;
      if (std::fabs(step) <= 1e-15 * std::fabs(z)) break;
    }
    T at = z;  // two more Newton steps, in T, give z its derivatives
    for (int i = 0; i < 2; ++i) {
      const T p = jets::exp(-jets::softplus(-at));
      at = at + (level + jets::softplus(-at) - alpha * jets::softplus(at)) / (1.0 - p + alpha * p);
    }
    return jets::log_sum_exp(std::array<T, 2>{theta[0], theta[1] - jets::softplus(-at)});
  }
  static std::array<double, 5> from_theta(const std::array<double, 5>& t) {
    const double alpha = std::exp(t[2]);
    return {std::exp(t[0]), std::exp(t[0]) + std::exp(t[1]), alpha, std::exp(t[3] - (alpha - 1) * t[1]), t[4]};
  }

  // Combines floors below the minimum y, guessing errors above the maximum y, and values of alpha. Given these, the
  // logarithm of the left-hand side is a line in log x, fitted by least squares.
  template <class Points>
  static std::vector<std::array<double, 5>> starts(const Points& points) {
    const auto [least, most] = extent(points, detail::log_y);
    std::vector<std::array<double, 5>> all;
    for (const double share : {0.01, 0.5, 0.9})
      for (const double beyond : {1.02, 1.3, 4.0})
        for (const double alpha : {0.3, 1.0}) {
          const double floor = share * std::exp(least), top = beyond * std::exp(most);
          const Line line = least_squares_line(points, detail::log_x, [&](const auto& p) {
            const double y = std::exp(p.log_y);
            return std::log(y - floor) - alpha * std::log(top - y);
          });
          const double width = std::log(top - floor);
          all.push_back({std::log(floor), width, std::log(alpha), line.intercept + (alpha - 1) * width, line.slope});
        }
    return all;
  }
};

}  // namespace algoperf
