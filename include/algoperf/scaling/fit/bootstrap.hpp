#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/random.hpp"
#include "fit.hpp"
#include "percentile.hpp"

namespace algoperf {

// What is drawn anew (Efron & Tibshirani 1993, chapters 6 and 9): `pairs`, the observations themselves, with
// replacement; `residuals`, those of the fit, about its law; `parametric`, normal numbers of their variance about its
// law. The last two believe that the law is true and log y's errors are alike; pairs believe less.
enum class Resample { pairs, residuals, parametric };

struct BootstrapOptions {
  std::size_t count = 4000;
  Resample resample = Resample::pairs;
  std::uint64_t seed = 1;

  void check() const { require(count >= 1, "BootstrapOptions: count is 0, expected at least 1"); }
};

// Fits of resampled observations, each from the known optimum. What they spread over is the uncertainty of noise, under
// the law: none of it tells how wrong the law is where nothing was measured. Percentiles of few observations are too
// narrow (docs/scaling.md says by how much): below 20 of them believe profile_interval (profile.hpp).
template <ScalingLaw Law>
struct Bootstrap {
  std::vector<std::array<double, Law::parameters>> thetas;
  std::size_t not_converged = 0;  // left out of thetas

  // Of a parameter, in the order of Law::names. Throws Error if there is none of this number.
  Interval interval(std::size_t parameter, double level = 0.95) const {
    require(parameter < Law::parameters, "Bootstrap: the parameter is ", parameter, ", expected less than ",
            Law::parameters);
    std::vector<double> values;
    for (const auto& theta : thetas) values.push_back(Law::from_theta(theta)[parameter]);
    return percentile_interval(std::move(values), level);
  }
  // Of the law at x.
  Interval at(const std::array<double, Law::variables>& x, double level = 0.95) const {
    std::vector<double> values;
    for (const auto& theta : thetas) values.push_back(Fit<Law>{.theta = theta}(x));
    return percentile_interval(std::move(values), level);
  }
};

namespace detail {

// Some points never, others more than once, as weights.
template <class Points>
void draw_pairs(Points& drawn, const Points& points, RandomStream& random) {
  const auto n = static_cast<std::uint32_t>(points.size());
  std::vector<double> times(points.size(), 0);
  for (std::uint32_t i = 0; i < n; ++i) times[random.below(n)] += 1;
  drawn.clear();
  for (std::size_t i = 0; i < points.size(); ++i)
    if (times[i] > 0) {
      drawn.push_back(points[i]);
      drawn.back().weight *= times[i];
    }
}

template <class Law>
void resample(std::vector<FitPoint<Law::variables>>& drawn, const std::vector<FitPoint<Law::variables>>& points,
              const Fit<Law>& fit, const std::vector<double>& residuals, Resample how, RandomStream random) {
  if (how == Resample::pairs) return draw_pairs(drawn, points, random);
  const auto n = static_cast<std::uint32_t>(points.size());
  drawn = points;
  for (auto& p : drawn) {
    const double error = how == Resample::residuals ? residuals[random.below(n)] : residuals[0] * random.normal();
    p.log_y = Law::template log_value<double>(p.log_x, fit.theta) + error / std::sqrt(p.weight);
  }
}

}  // namespace detail

// `fit` must be the fit of these residuals of these observations. Throws Error if it is not, where there are no more
// observations than parameters, of which no spread can be told, and where no replicate converges.
template <ScalingLaw Law, class Residuals = SquaredResiduals>
Bootstrap<Law> bootstrap(const Fit<Law>& fit, const std::vector<Observation<Law::variables>>& observations,
                         const Residuals& residuals = {}, const BootstrapOptions& options = {}) {
  check_observations(observations, Law::parameters);
  require(observations.size() > Law::parameters, "bootstrap: there are ", observations.size(), " observations for ",
          Law::parameters, " parameters, of which no spread can be told");
  residuals.check();
  options.check();
  require(fit.converged, "bootstrap: the fit did not converge");
  const auto points = detail::fit_points(observations);

  const double objective = detail::FitObjective<Law, Residuals>{points, residuals}(fit.theta);
  require(detail::same_sum(points, fit.objective, objective), "bootstrap: the fit's objective is ", fit.objective,
          ", but these residuals of these observations sum to ", objective);
  for (const double each : fit.theta)
    require(std::isfinite(each), "bootstrap: a coefficient of the fit is 0 or infinite, from where none is refitted");

  // Residuals of weight 1, as wide as if no parameter had been fitted; or their deviation.
  std::vector<double> errors;
  double squares = 0;
  for (const auto& p : points) {
    errors.push_back(std::sqrt(p.weight) * (p.log_y - Law::template log_value<double>(p.log_x, fit.theta)));
    squares += errors.back() * errors.back();
  }
  const double n = static_cast<double>(points.size()), free = n - static_cast<double>(Law::parameters);
  for (double& e : errors) e *= std::sqrt(n / free);
  if (options.resample == Resample::parametric) errors = {std::sqrt(squares / free)};

  Bootstrap<Law> result;
  std::vector<detail::FitPoint<Law::variables>> drawn;
  const detail::Restarts<Law> restarts(points, fit.theta);
  const RandomKey key{options.seed};  // each replicate has one of its own: none depends on those before
  for (std::size_t i = 0; i < options.count; ++i) {
    detail::resample(drawn, points, fit, errors, options.resample, RandomStream(key.fold(i)));
    Fit<Law> replicate;
    if (drawn.size() >= Law::parameters) replicate = detail::fit_from<Law>(drawn, residuals, restarts.of(drawn));
    if (replicate.converged)
      result.thetas.push_back(replicate.theta);
    else
      ++result.not_converged;
  }
  require(!result.thetas.empty(), "bootstrap: none of ", options.count, " replicates converged");
  return result;
}

}  // namespace algoperf
