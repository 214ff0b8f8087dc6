#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "../laws/weighted_points.hpp"
#include "jet.hpp"
#include "law_functions.hpp"

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
template <std::size_t Variables, std::size_t n>
ALGOPERF_COLD Sensitivity<n> sensitivity(const LawFunctions<Variables, n>& law,
                                         const std::vector<FitPoint<Variables>>& points,
                                         const std::array<double, n>& at) {
  constexpr double least_felt = 1e-16, least_pivot = 1e-13;
  std::array<std::array<double, n>, n> a = {};
  law.for_each_jet(points, at, [&](const auto& p, const Jet<n>& log_value) {
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) a[i][j] += p.weight * log_value.first[i] * log_value.first[j];
  });
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
template <std::size_t Variables, std::size_t N>
class Restarts {
 public:
  using Theta = std::array<double, N>;
  using Points = std::vector<FitPoint<Variables>>;

  Restarts(const LawFunctions<Variables, N>& law, const Points& points, const Theta& theta)
      : law_(law), theta_(theta), edge_(!sensitivity(law, points, theta).all_felt()) {}

  const LawFunctions<Variables, N>& law() const { return law_; }
  std::vector<Theta> of(const Points& points) const {
    std::vector<Theta> all;
    if (edge_) all = law_.starts(points);
    all.push_back(theta_);
    return all;
  }

 private:
  const LawFunctions<Variables, N>& law_;
  Theta theta_;
  bool edge_;
};

}  // namespace algoperf::detail
