#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <type_traits>
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

namespace detail {

// Returns the number of different x(point).
template <class Points, class X>
std::size_t count_different(const Points& points, const X& x) {
  std::vector<std::decay_t<decltype(x(points[0]))>> all;
  for (const auto& point : points) all.push_back(x(point));
  std::sort(all.begin(), all.end());
  return static_cast<std::size_t>(std::unique(all.begin(), all.end()) - all.begin());
}

}  // namespace detail

// Checks that a fit can use the observations: values positive and finite, at least as many different x as parameters,
// y not constant. Several observations may have the same x. Throws Error otherwise, naming the observation, counted
// from 0.
template <std::size_t Variables>
ALGOPERF_COLD void check_observations(const std::vector<Observation<Variables>>& all, std::size_t parameters) {
  require(all.size() >= parameters, "fit: there are ", all.size(), " observations for ", parameters, " parameters");
  const auto positive = [](double x) { return x > 0 && x < HUGE_VAL; };
  bool constant = true;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const double x : all[i].x)
      require(positive(x), "fit: x of observation ", i, " is ", x, ", expected a positive number");
    require(positive(all[i].y), "fit: y of observation ", i, " is ", all[i].y, ", expected a positive number");
    require(positive(all[i].weight), "fit: the weight of observation ", i, " is ", all[i].weight,
            ", expected a positive number");
    constant = constant && all[i].y == all[0].y;
  }
  const std::size_t different = detail::count_different(all, [](const auto& o) { return o.x; });
  require(different >= parameters, "fit: the ", all.size(), " observations have ", different, " different x for ",
          parameters, " parameters");
  require(!constant, "fit: y is ", all[0].y, " in all observations, expected at least two different values");
}

}  // namespace algoperf
