#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "../concept.hpp"
#include "../laws/weighted_points.hpp"
#include "jet.hpp"
#include "law_functions.hpp"
#include "observations.hpp"
#include "residual_loss.hpp"

namespace algoperf::detail {

template <std::size_t Variables>
std::vector<FitPoint<Variables>> fit_points(const std::vector<Observation<Variables>>& all) {
  std::vector<FitPoint<Variables>> points;
  points.reserve(all.size());
  for (const Observation<Variables>& o : all) {
    FitPoint<Variables> p{.log_x = {}, .log_y = std::log(o.y), .weight = o.weight};
    for (std::size_t i = 0; i < Variables; ++i) p.log_x[i] = std::log(o.x[i]);
    points.push_back(p);
  }
  return points;
}

// Returns the number of different x among the points.
template <class Points>
std::size_t different_x(const Points& points) {
  return count_different(points, [](const auto& p) { return p.log_x; });
}

// Returns whether the logarithms of the sizes vary independently: each of them varies, and none is a linear function
// of another. Otherwise, laws of two sizes may have interchangeable terms.
template <std::size_t Variables>
bool vary_apart(const std::vector<FitPoint<Variables>>& points) {
  constexpr double least = 1e-12;
  std::array<double, Variables> mean = {};
  for (const auto& p : points)
    for (std::size_t i = 0; i < Variables; ++i) mean[i] += p.log_x[i] / static_cast<double>(points.size());
  std::array<std::array<double, Variables>, Variables> products = {};
  for (const auto& p : points)
    for (std::size_t i = 0; i < Variables; ++i)
      for (std::size_t j = 0; j < Variables; ++j) products[i][j] += (p.log_x[i] - mean[i]) * (p.log_x[j] - mean[j]);
  for (std::size_t i = 0; i < Variables; ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const double both = products[i][i] * products[j][j];
      if (!(both - products[i][j] * products[i][j] > least * both)) return false;
    }
  return true;
}

// Returns the points with weights scaled to a mean of 1, for code that takes the number of points from the total
// weight.
template <class Points>
Points of_mean_weight_one(Points points) {
  const double mean = total_weight(points) / static_cast<double>(points.size());
  for (auto& p : points) p.weight /= mean;
  return points;
}

// The sum that a fit minimises: its value, or its value with derivatives.
template <std::size_t Variables, std::size_t N>
struct FitObjective {
  const LawFunctions<Variables, N>& law;
  const std::vector<FitPoint<Variables>>& points;
  ResidualLoss loss;

  double operator()(const std::array<double, N>& theta) const {
    double sum = 0;
    for (const auto& p : points) sum += p.weight * loss.value(law.log_value(p.log_x, theta) - p.log_y);
    return sum;
  }
  // `bound` receives the curvature of quadratics that bound the losses from above (iteratively reweighted least
  // squares). If the law is linear in theta, it is no less than the curvature of the sum.
  Jet<N> derivatives(const std::array<double, N>& at, std::array<double, Jet<N>::pairs>& bound) const {
    Jet<N> sum;
    bound = {};
    law.for_each_jet(points, at, [&](const auto& p, const Jet<N>& log_value) {
      const double r = log_value.value - p.log_y, slope = p.weight * loss.slope(r);
      const double curvature = p.weight * loss.curvature(r);
      sum += log_value.through(p.weight * loss.value(r), slope, curvature);
      const double over = r == 0 ? curvature : slope / r;
      std::size_t k = 0;
      for (std::size_t i = 0; i < N; ++i)
        for (std::size_t j = 0; j <= i; ++j, ++k) bound[k] += over * log_value.first[i] * log_value.first[j];
    });
    return sum;
  }
};

template <ScalingLaw Law>
FitObjective<Law::variables, Law::parameters> fit_objective(const std::vector<FitPoint<Law::variables>>& points,
                                                            const ResidualLoss& loss) {
  return {law_functions<Law>, points, loss};
}

// The part of an objective that rounding of the residuals can cause.
template <class Points>
double negligible(const Points& points) {
  return 1e-30 * total_weight(points);
}

// Returns whether two values of a sum of squares, or of Huber losses, differ only by the rounding of their residuals.
template <class Points>
bool same_sum(const Points& points, double a, double b) {
  return std::fabs(a - b) <= 1e-9 * a + 1e-13 * std::sqrt(total_weight(points) * a) + negligible(points);
}

}  // namespace algoperf::detail
