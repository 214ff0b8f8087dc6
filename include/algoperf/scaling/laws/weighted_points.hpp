// What starts of fits are made of: statistics of weighted points.
#pragma once

#include <cmath>
#include <cstddef>

#include "../../core/config.hpp"

namespace algoperf {

struct Extent {
  double least = HUGE_VAL, most = -HUGE_VAL;
};

// Of f(point).
template <class Points, class F>
Extent extent(const Points& points, const F& f) {
  Extent e;
  for (const auto& point : points) {
    const double value = f(point);
    e.least = std::fmin(e.least, value), e.most = std::fmax(e.most, value);
  }
  return e;
}

template <class Points>
double total_weight(const Points& points) {
  double sum = 0;
  for (const auto& point : points) sum += point.weight;
  return sum;
}

// Of f(point), by the points' weights.
template <class Points, class F>
double weighted_mean(const Points& points, const F& f) {
  double mean = 0, weight = 0;
  for (const auto& point : points) {
    weight += point.weight;
    mean += point.weight * (f(point) - mean) / weight;
  }
  return mean;
}

struct Line {
  double intercept = 0, slope = 0;
};

// The line of least squares through (x(point), y(point)), each of the point's weight. Points where one of them is not
// finite are left out; with fewer than two different x the slope is 0.
template <class Points, class X, class Y>
Line least_squares_line(const Points& points, const X& x, const Y& y) {
  double weight = 0, mean_x = 0, mean_y = 0, xx = 0, xy = 0;
  for (const auto& point : points) {  // means and sums about them as they come (Welford 1962)
    const double at = x(point), value = y(point);
    if (!std::isfinite(at) || !std::isfinite(value)) continue;
    weight += point.weight;
    const double dx = at - mean_x, share = point.weight / weight;
    mean_x += share * dx;
    mean_y += share * (value - mean_y);
    xx += point.weight * dx * (at - mean_x);
    xy += point.weight * dx * (value - mean_y);
  }
  const double slope = xx > 0 ? xy / xx : 0;
  return {mean_y - slope * mean_x, slope};
}

namespace detail {

inline constexpr auto log_x = [](const auto& point) { return point.log_x[0]; };
inline constexpr auto log_y = [](const auto& point) { return point.log_y; };

}  // namespace detail
}  // namespace algoperf
