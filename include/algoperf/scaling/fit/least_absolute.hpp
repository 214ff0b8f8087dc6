#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "../laws/weighted_points.hpp"
#include "fit_objective.hpp"
#include "jet.hpp"
#include "minimize.hpp"
#include "residual_loss.hpp"
#include "sensitivity.hpp"
#include "solve.hpp"

namespace algoperf::detail {

// Minimises the sum of weight |r| near `from`. It minimises Huber losses with a delta that shrinks tenfold each time,
// and after each fits the law exactly through the observations with the smallest residuals: as many as the law has
// parameters, not counting coefficients that have reached 0. Such a fit is an optimum, `converged`, if 0 is a
// subgradient of the sum (Koenker & Bassett 1978): subgradients at the interpolated observations, each at most its
// weight in absolute value, balance the gradient of all other terms. The optimum of a law that is not linear in its
// coordinates may pass through fewer observations. Then the result is the Huber optimum at the smallest delta, whose
// sum exceeds the minimum by at most delta times the total weight.
template <class Law>
Minimum<Law::parameters> least_absolute(const std::vector<FitPoint<Law::variables>>& points,
                                        const std::array<double, Law::parameters>& from) {
  constexpr std::size_t n = Law::parameters;
  const FitObjective<Law, AbsoluteResiduals> sum{points, {}};
  const auto residual = [](const FitPoint<Law::variables>& p, const std::array<double, n>& theta) {
    return Law::template log_value<double>(p.log_x, theta) - p.log_y;
  };
  Minimum<n> m{.at = from, .value = sum(from)};
  std::vector<FitPoint<Law::variables>> sorted = points;
  const double weight = total_weight(points);
  constexpr double least_delta = 1e-13;
  m.converged = m.value <= least_delta * weight;
  for (double delta = m.value / weight; delta > least_delta; delta /= 10) {
    const Minimum<n> next =
        minimize(FitObjective<Law, HuberResiduals>{points, HuberResiduals{delta}}, m.at, 1e-16 * delta * weight);
    m.iterations += next.iterations;
    if (sum(next.at) < m.value) m.at = next.at, m.value = sum(m.at);
    m.converged = next.converged && sum(next.at) <= m.value + delta * weight && delta < 10 * least_delta;

    std::sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) {
      return std::fabs(residual(a, m.at)) < std::fabs(residual(b, m.at));
    });
    const auto felt = sensitivity<Law>(points, m.at).felt;
    const auto held_by = std::min(sorted.size(), static_cast<std::size_t>(std::count(felt.begin(), felt.end(), true)));
    const std::vector<FitPoint<Law::variables>> through(sorted.begin(),
                                                        sorted.begin() + static_cast<std::ptrdiff_t>(held_by));
    const Minimum<n> vertex = minimize(FitObjective<Law, SquaredResiduals>{through, {}}, m.at, 1e-32 * weight);
    if (!(sum(vertex.at) <= m.value * (1 + 1e-12))) continue;

    std::array<Jet<n>, n> theta;
    for (std::size_t i = 0; i < n; ++i) theta[i] = Jet<n>::variable(vertex.at[i], i);
    std::array<std::array<double, n>, n> normal = {};
    std::array<double, n> pull = {}, share;
    std::vector<std::pair<Jet<n>, double>> held;  // the law where it passes through observations, and their weights
    for (const auto& p : sorted) {
      const Jet<n> law = Law::template log_value<Jet<n>>(p.log_x, theta);
      const double r = law.value - p.log_y;
      if (std::fabs(r) > 1e-12) {
        for (std::size_t i = 0; i < n; ++i) pull[i] -= std::copysign(p.weight, r) * law.first[i];
        continue;
      }
      held.emplace_back(law, p.weight);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) normal[i][j] += law.first[i] * law.first[j];
    }
    for (std::size_t i = 0; i < n; ++i)
      if (!felt[i]) {
        for (std::size_t j = 0; j < n; ++j) normal[i][j] = normal[j][i] = i == j;
        pull[i] = 0;
      }
    if (!solve(normal, pull, share)) continue;  // distributes the pull over `held` by least squares
    bool holds = true;
    for (const auto& [law, most] : held) {
      double force = 0;
      for (std::size_t i = 0; i < n; ++i) force += share[i] * law.first[i];
      holds = holds && std::fabs(force) <= most * (1 + 1e-6);
    }
    if (holds) {
      m.at = vertex.at;
      m.value = sum(vertex.at);
      m.converged = true;
      return m;
    }
  }
  return m;
}

}  // namespace algoperf::detail
