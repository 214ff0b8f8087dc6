#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "fit.hpp"
#include "minimize.hpp"
#include "observations.hpp"
#include "projected_objective.hpp"

namespace algoperf {

// Minimises the sum of weight (law(x) - y)^2. Its residuals are those of y itself; those of fit() are of log y.
// Accepts only laws with coefficients in which y is linear. For each set of the other coordinates it solves for these
// coefficients, constrained to be non-negative (variable projection, Golub & Pereyra 1973). This leaves two of
// Chinchilla's five coordinates to search. A coefficient of 0 has a theta of -inf. Throws Error as fit() does.
template <ScalingLaw Law>
Fit<Law> fit_values(Law, const std::vector<Observation<Law::variables>>& observations) {
  static_assert(detail::SeparableLaw<Law>,
                "algoperf: fit_values solves for the coefficients in which y is linear, but this law declares none "
                "(`linear`, `log_terms`: scaling/concept.hpp); fit() fits log y");
  using Objective = detail::ProjectedObjective<Law>;
  constexpr std::size_t linear = Objective::linear, shapes = Objective::shapes;
  check_observations(observations, Law::parameters);
  const auto points = detail::fit_points(observations);
  const Objective sum(points);
  double negligible = 0;  // the sum when the residuals are rounding errors
  for (const auto& o : observations) negligible += 1e-28 * o.weight * o.y * o.y;

  std::vector<Minimum<shapes>> minima;
  for (const auto& theta : Law::starts(points)) {
    Minimum<shapes> start;
    for (std::size_t a = 0; a < shapes; ++a) start.at[a] = theta[linear + a];
    const bool known =
        std::any_of(minima.begin(), minima.end(), [&](const auto& other) { return other.at == start.at; });
    if (known) continue;
    start.value = sum(start.at);
    minima.push_back(start);
  }
  const auto lower = [](const auto& a, const auto& b) { return a.value < b.value; };
  std::sort(minima.begin(), minima.end(), lower);
  const std::size_t followed = detail::vary_apart(points) ? 3 : minima.size();
  if (minima.size() > followed) minima.resize(followed);
  for (auto& minimum : minima) minimum = minimize(sum, minimum.at, negligible);
  const Minimum<shapes> best = *std::min_element(minima.begin(), minima.end(), lower);

  Fit<Law> fit{{.objective = best.value,
                .converged = best.converged,
                .starts = minima.size(),
                .points = points.size(),
                .residuals = "form - observation, sum of squares"}};
  const auto solved = [&](const std::array<double, shapes>& shape) {
    std::array<double, linear> coefficients;
    require(std::isfinite(sum.solve_for(shape, coefficients)), "fit_values: there is no ", Law::formula,
            " with coefficients above 0 for these observations");
    std::array<double, Law::parameters> theta;
    for (std::size_t k = 0; k < linear; ++k) theta[k] = std::log(coefficients[k]);
    std::copy(shape.begin(), shape.end(), theta.begin() + linear);
    return theta;
  };
  fit.theta = solved(best.at);

  // Marks the coordinates that the observations do not determine, here for y itself, whose derivatives are y times
  // those of log y. The logarithm of a coefficient of 0 is replaced by log_of_nothing, which gives the same y.
  static constexpr double log_of_nothing = -700;
  const auto finite = [](std::array<double, Law::parameters> theta) {
    for (double& each : theta) each = std::max(each, log_of_nothing);
    return theta;
  };
  const auto& law = detail::law_functions<Law>;
  for (const auto& minimum : minima) {
    if (!(minimum.value <= best.value * (1 + 1e-8) + negligible)) continue;
    ++fit.reached;
    if (minimum.converged) detail::mark_different(fit, law, finite(solved(minimum.at)), finite(fit.theta));
  }
  if (!detail::vary_apart(points))
    detail::mark_as(fit, detail::fit_smooth_from(law, points, SquaredResiduals{}, law.starts(points)));
  auto of_values = points;
  for (std::size_t i = 0; i < points.size(); ++i) of_values[i].weight *= observations[i].y * observations[i].y;
  detail::mark_undetermined(fit, law, of_values, finite(fit.theta));
  detail::name_weights(fit, observations);
  return fit;
}

}  // namespace algoperf
