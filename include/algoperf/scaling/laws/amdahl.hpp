#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "../fit/jet.hpp"
#include "weighted_points.hpp"

namespace algoperf {

// Amdahl's law for n workers: T = T1 (s + (1 - s) / n), where s is the fraction that does not speed up (Amdahl 1967).
// T has a plateau at T1 s. The curve is that of CriticalBatch with other parameters.
struct Amdahl {
  static constexpr std::size_t variables = 1, parameters = 2, linear = 1;
  static constexpr std::array<const char*, 2> names = {"T1", "s"};
  static constexpr const char* formula = "T = T1 (s + (1 - s) / n)";

  // theta = log T1, log(s / (1 - s)).
  template <class T>
  static T log_value(const std::array<double, 1>& log_x, const std::array<T, 2>& theta) {
    return theta[0] + jets::softplus(theta[1] + log_x[0]) - jets::softplus(theta[1]) - log_x[0];
  }
  static std::array<double, 2> from_theta(const std::array<double, 2>& t) {
    return {std::exp(t[0]), 1 / (1 + std::exp(-t[1]))};
  }

  template <class Points>
  static std::vector<std::array<double, 2>> starts(const Points& points) {
    std::vector<std::array<double, 2>> all;
    for (const double share : {0.001, 0.03, 0.3, 0.9}) {
      const double odds = std::log(share / (1 - share));
      const double alone = weighted_mean(points, [&](const auto& p) {
        return p.log_y - log_value<double>(p.log_x, {0, odds});
      });
      all.push_back({alone, odds});
    }
    return all;
  }
};

}  // namespace algoperf
