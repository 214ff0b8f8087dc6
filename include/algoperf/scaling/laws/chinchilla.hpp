#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "../fit/jet.hpp"
#include "weighted_points.hpp"

namespace algoperf {

// Approach 3 of Hoffmann et al. 2022 (arXiv:2203.15556): L = E + A / N^alpha + B / D^beta, for N parameters and D
// samples (tokens).
struct Chinchilla {
  static constexpr std::size_t variables = 2, parameters = 5, linear = 3;
  static constexpr std::array<const char*, 5> names = {"A", "B", "E", "alpha", "beta"};
  static constexpr const char* formula = "L = E + A / N^alpha + B / D^beta";

  // theta = log A, log B, log E, alpha, beta.
  template <class T>
  static std::array<T, 3> log_terms(const std::array<double, 2>& log_x, const std::array<T, 5>& theta) {
    return {theta[0] - theta[3] * log_x[0], theta[1] - theta[4] * log_x[1], theta[2]};
  }
  template <class T>
  static T log_value(const std::array<double, 2>& log_x, const std::array<T, 5>& theta) {
    return jets::log_sum_exp(log_terms(log_x, theta));
  }
  static std::array<double, 5> from_theta(const std::array<double, 5>& t) {
    return {std::exp(t[0]), std::exp(t[1]), std::exp(t[2]), t[3], t[4]};
  }

  // Combines exponents on a grid with floors at fractions of the minimum loss. The two terms contribute equally to
  // the loss above the floor at the mean point.
  template <class Points>
  static std::vector<std::array<double, 5>> starts(const Points& points) {
    const double least = extent(points, detail::log_y).least;
    const double n = weighted_mean(points, [](const auto& p) { return p.log_x[0]; });
    const double d = weighted_mean(points, [](const auto& p) { return p.log_x[1]; });
    const double loss = weighted_mean(points, [](const auto& p) { return std::exp(p.log_y); });
    std::vector<std::array<double, 5>> all;
    for (const double floor : {0.6, 0.9})
      for (const double alpha : {0.25, 0.4, 0.7})
        for (const double beta : {0.25, 0.4, 0.7}) {
          const double e = floor * std::exp(least), half = std::log(0.5 * (loss - e));
          all.push_back({half + alpha * n, half + beta * d, std::log(e), alpha, beta});
        }
    return all;
  }
};

}  // namespace algoperf
