#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "../../core/error.hpp"

namespace algoperf {

// A measurement: y, a loss or an error, at x, the sizes it depends on (samples; or parameters and samples).
template <std::size_t Variables>
struct Observation {
  std::array<double, Variables> x;
  double y = 0;
  double weight = 1;  // of its term in the sum: 1 / variance of log y, if known
};

// Checks that a fit can use the observations: at least as many as parameters, values positive and finite, no repeated
// x, y not constant. Throws Error otherwise, naming the observation, counted from 0.
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
              " have the same x: average them, or pass them as one observation with their total weight");
    constant = constant && all[i].y == all[0].y;
  }
  require(!constant, "fit: y is ", all[0].y, " in all observations, expected at least two different values");
}

}  // namespace algoperf
