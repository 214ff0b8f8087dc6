#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "../fit/jet.hpp"
#include "weighted_points.hpp"

namespace algoperf {

// Steps to a target as a function of the batch size: S = Smin (1 + Bcrit / B) (McCandlish et al. 2018,
// arXiv:1812.06162). At B = Bcrit, S is twice the minimum Smin. The number of examples to the target, S B, is at
// least Smin Bcrit.
struct CriticalBatch {
  static constexpr std::size_t variables = 1, parameters = 2, linear = 1;
  static constexpr std::array<const char*, 2> names = {"Smin", "Bcrit"};
  static constexpr const char* formula = "S = Smin (1 + Bcrit / B)";

  // theta = log Smin, log Bcrit.
  template <class T>
  static T log_value(const std::array<double, 1>& log_x, const std::array<T, 2>& theta) {
    return theta[0] + jets::softplus(theta[1] - log_x[0]);
  }
  static std::array<double, 2> from_theta(const std::array<double, 2>& t) { return {std::exp(t[0]), std::exp(t[1])}; }

  template <class Points>
  static std::vector<std::array<double, 2>> starts(const Points& points) {
    const auto [first, last] = extent(points, detail::log_x);
    std::vector<std::array<double, 2>> all;
    for (int i = 0; i < 5; ++i) {
      const double critical = first + i * (last - first) / 4;
      const double least_steps =
          weighted_mean(points, [&](const auto& p) { return p.log_y - jets::softplus(critical - p.log_x[0]); });
      all.push_back({least_steps, critical});
    }
    return all;
  }
};

}  // namespace algoperf
