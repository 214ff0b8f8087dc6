#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "../fit/jet.hpp"
#include "weighted_points.hpp"

namespace algoperf {

// Kaplan et al. 2020 (arXiv:2001.08361, eq. 1.5): L = ((Nc / N)^(aN / aD) + Dc / D)^aD, for N non-embedding
// parameters and D tokens. The law has no floor, and the outer exponent aD applies to both terms.
struct Kaplan {
  static constexpr std::size_t variables = 2, parameters = 4;
  static constexpr std::array<const char*, 4> names = {"Nc", "Dc", "aN", "aD"};
  static constexpr const char* formula = "L = ((Nc / N)^(aN / aD) + Dc / D)^aD";

  // theta = aN log Nc, aD log Dc, log aN, log aD. The first two are logarithms of losses.
  template <class T>
  static T log_value(const std::array<double, 2>& log_x, const std::array<T, 4>& theta) {
    const T n = jets::exp(theta[2]), d = jets::exp(theta[3]);
    return d * jets::log_sum_exp(std::array<T, 2>{(theta[0] - n * log_x[0]) / d, (theta[1] - d * log_x[1]) / d});
  }
  static std::array<double, 4> from_theta(const std::array<double, 4>& t) {
    const double n = std::exp(t[2]), d = std::exp(t[3]);
    return {std::exp(t[0] / n), std::exp(t[1] / d), n, d};
  }

  template <class Points>
  static std::vector<std::array<double, 4>> starts(const Points& points) {
    const double n = weighted_mean(points, [](const auto& p) { return p.log_x[0]; });
    const double d = weighted_mean(points, [](const auto& p) { return p.log_x[1]; });
    const double y = weighted_mean(points, detail::log_y);
    std::vector<std::array<double, 4>> all;
    for (const double by_n : {0.04, 0.08, 0.2, 0.4})
      for (const double by_d : {0.04, 0.1, 0.2, 0.4})
        all.push_back({y + by_n * n - 0.7 * by_d, y + by_d * d - 0.7 * by_d, std::log(by_n), std::log(by_d)});
    return all;
  }
};

}  // namespace algoperf
