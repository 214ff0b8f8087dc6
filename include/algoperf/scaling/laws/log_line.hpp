#pragma once

#include <array>

#include "power_law.hpp"

namespace algoperf {

// PowerLaw, parametrised as a line in logarithms: log y = intercept + slope log x, in natural logarithms. With
// weights 1 / variance of log y, the fit is the regression of Porian et al. 2024 (arXiv:2406.19146).
struct LogLine : PowerLaw {
  static constexpr std::array<const char*, 2> names = {"intercept", "slope"};
  static constexpr const char* formula = "log y = intercept + slope log x";
  static std::array<double, 2> from_theta(const std::array<double, 2>& t) { return t; }
};

}  // namespace algoperf
