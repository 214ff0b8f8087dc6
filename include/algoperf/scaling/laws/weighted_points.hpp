// Statistics of weighted points, from which the laws compute the starting coordinates of fits.
#pragma once

#include <cmath>
#include <cstddef>

#include "../../core/config.hpp"

namespace algoperf {

struct Extent {
  double least = HUGE_VAL, most = -HUGE_VAL;
};

// Returns the minimum and the maximum of f(point).
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

// Returns the mean of f(point), weighted by the points' weights.
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

// Fits a line through (x(point), y(point)) by weighted least squares. Skips points where x or y is not finite. If
// fewer than two distinct x remain, the slope is 0.
template <class Points, class X, class Y>
Line least_squares_line(const Points& points, const X& x, const Y& y) {
  double weight = 0, mean_x = 0, mean_y = 0, xx = 0, xy = 0;
  for (const auto& point : points) {  // running means and sums of squares about them (Welford 1962)
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
