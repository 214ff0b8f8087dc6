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
template <std::size_t Variables, std::size_t n>
ALGOPERF_COLD Minimum<n> least_absolute(const LawFunctions<Variables, n>& law,
                                        const std::vector<FitPoint<Variables>>& points,
                                        const std::array<double, n>& from) {
  using Points = std::vector<FitPoint<Variables>>;
  const FitObjective<Variables, n> sum{law, points, AbsoluteResiduals{}};
  const auto residual = [&](const FitPoint<Variables>& p, const std::array<double, n>& theta) {
    return law.log_value(p.log_x, theta) - p.log_y;
  };
  Minimum<n> m{.at = from, .value = sum(from)};
  Points sorted = points;
  const double weight = total_weight(points);
  constexpr double least_delta = 1e-13;
  m.converged = m.value <= least_delta * weight;
  for (double delta = m.value / weight; delta > least_delta; delta /= 10) {
    const Minimum<n> next =
        minimize(FitObjective<Variables, n>{law, points, HuberResiduals{delta}}, m.at, 1e-16 * delta * weight);
    m.iterations += next.iterations;
    if (sum(next.at) < m.value) m.at = next.at, m.value = sum(m.at);
    m.converged = next.converged && sum(next.at) <= m.value + delta * weight && delta < 10 * least_delta;

    std::sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) {
      return std::fabs(residual(a, m.at)) < std::fabs(residual(b, m.at));
    });
    const auto felt = sensitivity(law, points, m.at).felt;
    const auto held_by = std::min(sorted.size(), static_cast<std::size_t>(std::count(felt.begin(), felt.end(), true)));
    const Points through(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(held_by));
    const Minimum<n> vertex =
        minimize(FitObjective<Variables, n>{law, through, SquaredResiduals{}}, m.at, 1e-32 * weight);
    if (!(sum(vertex.at) <= m.value * (1 + 1e-12))) continue;

    std::array<std::array<double, n>, n> normal = {};
    std::array<double, n> pull = {}, share;
    std::vector<std::pair<Jet<n>, double>> held;  // the law where it passes through observations, and their weights
    law.for_each_jet(sorted, vertex.at, [&](const auto& p, const Jet<n>& log_value) {
      const double r = log_value.value - p.log_y;
      if (std::fabs(r) > 1e-12) {
        for (std::size_t i = 0; i < n; ++i) pull[i] -= std::copysign(p.weight, r) * log_value.first[i];
        return;
      }
      held.emplace_back(log_value, p.weight);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) normal[i][j] += log_value.first[i] * log_value.first[j];
    });
    for (std::size_t i = 0; i < n; ++i)
      if (!felt[i]) {
        for (std::size_t j = 0; j < n; ++j) normal[i][j] = normal[j][i] = i == j;
        pull[i] = 0;
      }
    if (!solve(normal, pull, share)) continue;  // distributes the pull over `held` by least squares
    bool holds = true;
    for (const auto& [log_value, most] : held) {
      double force = 0;
      for (std::size_t i = 0; i < n; ++i) force += share[i] * log_value.first[i];
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
