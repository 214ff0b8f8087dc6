#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "../../core/error.hpp"

namespace algoperf {

// A smooth curve through points (Akima 1970, J. ACM 17): a cubic between each pair of neighbours. The slope at a
// point depends only on the two points to each side, so an outlier affects the curve only nearby.
class AkimaCurve {
 public:
  // Throws Error unless there are at least 3 points, finite and in increasing order of x.
  AkimaCurve(std::vector<double> x, std::vector<double> y) : x_(std::move(x)), y_(std::move(y)) {
    const std::size_t n = x_.size();
    require(n >= 3 && y_.size() == n, "AkimaCurve: there are ", n, " x and ", y_.size(),
            " y, expected equal counts of at least 3");
    // Slopes of the lines between neighbours, with two extrapolated ones before the first and two after the last.
    std::vector<double> line(n + 3);
    for (std::size_t i = 0; i < n; ++i)
      require(std::isfinite(x_[i]) && std::isfinite(y_[i]), "AkimaCurve: point ", i, " is ", x_[i], ", ", y_[i],
              ", expected finite numbers");
    for (std::size_t i = 0; i + 1 < n; ++i) {
      require(x_[i] < x_[i + 1], "AkimaCurve: x is ", x_[i + 1], " after ", x_[i], ", expected increasing x");
      line[i + 2] = (y_[i + 1] - y_[i]) / (x_[i + 1] - x_[i]);
    }
    line[1] = 2 * line[2] - line[3];
    line[0] = 2 * line[1] - line[2];
    line[n + 1] = 2 * line[n] - line[n - 1];
    line[n + 2] = 2 * line[n + 1] - line[n];
    for (std::size_t i = 0; i < n; ++i) {
      const double before = std::fabs(line[i + 1] - line[i]), after = std::fabs(line[i + 3] - line[i + 2]);
      slope_.push_back(before + after > 0 ? (after * line[i + 1] + before * line[i + 2]) / (before + after)
                                          : 0.5 * (line[i + 1] + line[i + 2]));
    }
  }

  // Returns y at x. Before the first point and after the last, the cubic of the adjacent interval is extrapolated.
  double operator()(double x) const {
    const auto after = std::upper_bound(x_.begin() + 1, x_.end() - 1, x);
    const std::size_t i = static_cast<std::size_t>(after - x_.begin()) - 1;
    return cubic(i)(x - x_[i]);
  }
  // Returns the x of the curve's minimum between the first and the last point.
  double minimum() const {
    double least = x_[0], value = y_[0];
    for (std::size_t i = 0; i + 1 < x_.size(); ++i) {
      const double width = x_[i + 1] - x_[i];
      for (const double t : cubic(i).turns())
        if (t > 0 && t < width && cubic(i)(t) < value) value = cubic(i)(t), least = x_[i] + t;
      if (y_[i + 1] < value) value = y_[i + 1], least = x_[i + 1];
    }
    return least;
  }

 private:
  struct Cubic {
    double a, b, c, d;  // a + b t + c t^2 + d t^3
    double operator()(double t) const { return a + t * (b + t * (c + t * d)); }
    // Returns the t at which the slope is 0; NaN or infinite if there is none.
    std::array<double, 2> turns() const {
      const double root = -(c + std::copysign(std::sqrt(c * c - 3 * b * d), c));
      return {root / (3 * d), b / root};
    }
  };
  Cubic cubic(std::size_t i) const {
    const double width = x_[i + 1] - x_[i], line = (y_[i + 1] - y_[i]) / width;
    return {y_[i], slope_[i], (3 * line - 2 * slope_[i] - slope_[i + 1]) / width,
            (slope_[i] + slope_[i + 1] - 2 * line) / (width * width)};
  }

  std::vector<double> x_, y_, slope_;
};

}  // namespace algoperf
