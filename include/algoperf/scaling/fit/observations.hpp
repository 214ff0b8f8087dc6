#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "../../core/error.hpp"

namespace algoperf {

// What was measured: y, a loss or an error, at x, the sizes it depends on (samples; or parameters and samples).
template <std::size_t Variables>
struct Observation {
  std::array<double, Variables> x;
  double y = 0;
  double weight = 1;  // of its squared or absolute residual: 1 / variance of log y, if that is known
};

// What a fit needs of observations: as many as parameters, positive and finite numbers, no x twice, y not constant.
// Throws Error otherwise, naming the observation, counted from 0.
template <std::size_t Variables>
void check_observations(const std::vector<Observation<Variables>>& all, std::size_t parameters) {
  require(all.size() >= parameters, "fit: there are ", all.size(), " observations for ", parameters, " parameters");
  const auto positive = [](double x) { return x > 0 && x < HUGE_VAL; };
  bool constant = true;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const double x : all[i].x)
      require(positive(x), "fit: x of observation ", i, " is ", x, ", expected a positive number");
    require(positive(all[i].y), "fit: y of observation ", i, " is ", all[i].y, ", expected a positive number");
    require(positive(all[i].weight), "fit: the weight of observation ", i, " is ", all[i].weight,
            ", expected a positive number");
    for (std::size_t j = 0; j < i; ++j)
      require(all[i].x != all[j].x, "fit: observations ", j, " and ", i,
              " have the same x: average them, or give them as one with their weight");
    constant = constant && all[i].y == all[0].y;
  }
  require(!constant, "fit: y is ", all[0].y, " in all observations, which no law can be told from");
}

}  // namespace algoperf
