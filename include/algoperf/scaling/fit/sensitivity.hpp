#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "../laws/weighted_points.hpp"
#include "fit_objective.hpp"
#include "jet.hpp"

namespace algoperf::detail {

// How a law's values at some points depend on its coordinates.
template <std::size_t N>
struct Sensitivity {
  std::array<bool, N> felt = {};       // the values depend on it; false for the logarithm of a coefficient of 0
  std::array<bool, N> dependent = {};  // felt, but others can compensate for it

  bool all_felt() const {
    bool all = true;
    for (const bool each : felt) all = all && each;
    return all;
  }
};

// Computes the sensitivity from the matrix sum w J J^T, where J are the derivatives of log y. Each coordinate is
// scaled to a diagonal of 1. A Cholesky factorisation takes the largest pivot first, until no pivot exceeds
// rounding. The coordinates that are left then are dependent.
template <class Law>
Sensitivity<Law::parameters> sensitivity(const std::vector<FitPoint<Law::variables>>& points,
                                         const std::array<double, Law::parameters>& at) {
  constexpr std::size_t n = Law::parameters;
  constexpr double least_felt = 1e-16, least_pivot = 1e-13;
  std::array<Jet<n>, n> theta;
  for (std::size_t i = 0; i < n; ++i) theta[i] = Jet<n>::variable(at[i], i);
  std::array<std::array<double, n>, n> a = {};
  for (const auto& p : points) {
    const Jet<n> law = Law::template log_value<Jet<n>>(p.log_x, theta);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) a[i][j] += p.weight * law.first[i] * law.first[j];
  }
  Sensitivity<n> s;
  std::array<double, n> scale = {};
  const double weight = total_weight(points);
  for (std::size_t i = 0; i < n; ++i)
    if (a[i][i] > least_felt * weight) s.felt[i] = s.dependent[i] = true, scale[i] = 1 / std::sqrt(a[i][i]);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) a[i][j] *= scale[i] * scale[j];
  for (;;) {
    std::size_t pivot = n;
    for (std::size_t i = 0; i < n; ++i)
      if (s.dependent[i] && (pivot == n || a[i][i] > a[pivot][pivot])) pivot = i;
    if (pivot == n || !(a[pivot][pivot] > least_pivot)) return s;
    s.dependent[pivot] = false;
    const auto row = a[pivot];
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) a[i][j] -= row[i] * row[j] / row[pivot];
  }
}

// The starting coordinates of refits to nearly the same points: the optimum of the original fit. If that optimum is
// at an edge where the slope is 0 (the logarithm of a coefficient of 0), also the law's own starts.
template <class Law>
class Restarts {
 public:
  using Theta = std::array<double, Law::parameters>;
  using Points = std::vector<FitPoint<Law::variables>>;

  Restarts(const Points& points, const Theta& theta)
      : theta_(theta), edge_(!sensitivity<Law>(points, theta).all_felt()) {}

  std::vector<Theta> of(const Points& points) const {
    std::vector<Theta> all;
    if (edge_) all = Law::starts(points);
    all.push_back(theta_);
    return all;
  }

 private:
  Theta theta_;
  bool edge_;
};

}  // namespace algoperf::detail
