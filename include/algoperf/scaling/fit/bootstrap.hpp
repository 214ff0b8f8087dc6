#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/percentile.hpp"
#include "../../core/random.hpp"
#include "fit.hpp"

namespace algoperf {

// What a replicate resamples (Efron & Tibshirani 1993, chapters 6 and 9):
//   pairs       the observations, with replacement;
//   residuals   the residuals of the fit, added to its law;
//   parametric  normal errors with the variance of the residuals, added to the law of the fit.
// The last two assume that the law is true and that all errors of log y have the same distribution. `pairs` makes
// weaker assumptions.
enum class Resample { pairs, residuals, parametric };

struct BootstrapOptions {
  std::size_t count = 4000;
  Resample resample = Resample::pairs;
  std::uint64_t seed = 1;

  void check() const { require(count >= 1, "BootstrapOptions: count is 0, expected at least 1"); }
};

// Fits of resampled observations, each started from the optimum of the original fit. Their spread measures the
// uncertainty due to noise if the law is true. It does not measure how wrong the law is beyond the observations.
// Percentile intervals from few observations are too narrow (docs/scaling.md gives the coverage); with fewer than 20
// observations use profile_interval (profile.hpp).
template <ScalingLaw Law>
struct Bootstrap {
  std::vector<std::array<double, Law::parameters>> thetas;
  std::size_t not_converged = 0;  // left out of thetas

  // Returns the interval of parameter number `parameter`, in the order of Law::names. Throws Error if there is no
  // such parameter.
  Interval interval(std::size_t parameter, double level = 0.95) const {
    require(parameter < Law::parameters, "Bootstrap: the parameter is ", parameter, ", expected less than ",
            Law::parameters);
    std::vector<double> values;
    for (const auto& theta : thetas) values.push_back(Law::from_theta(theta)[parameter]);
    return percentile_interval(std::move(values), level);
  }
  // Returns the interval of the law's value at x.
  Interval at(const std::array<double, Law::variables>& x, double level = 0.95) const {
    std::vector<double> values;
    for (const auto& theta : thetas) values.push_back(Fit<Law>{{.theta = theta}}(x));
    return percentile_interval(std::move(values), level);
  }
};

namespace detail {

// Draws points with replacement. A point drawn several times appears once, with its weight multiplied.
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

template <std::size_t Variables, std::size_t N>
void resample(std::vector<FitPoint<Variables>>& drawn, const LawFunctions<Variables, N>& law,
              const std::vector<FitPoint<Variables>>& points, const std::array<double, N>& theta,
              const std::vector<double>& residuals, Resample how, RandomStream random) {
  if (how == Resample::pairs) return draw_pairs(drawn, points, random);
  const auto n = static_cast<std::uint32_t>(points.size());
  drawn = points;
  for (auto& p : drawn) {
    const double error = how == Resample::residuals ? residuals[random.below(n)] : residuals[0] * random.normal();
    p.log_y = law.log_value(p.log_x, theta) + error / std::sqrt(p.weight);
  }
}

// Appends the coordinates of the replicates that converge to `thetas`, and returns the number of the others.
template <std::size_t Variables, std::size_t N>
ALGOPERF_COLD std::size_t refit_resamples(const LawFunctions<Variables, N>& law, const FitResult<N>& fit,
                                          const std::vector<Observation<Variables>>& observations,
                                          const ResidualLoss& residuals, const BootstrapOptions& options,
                                          std::vector<std::array<double, N>>& thetas) {
  check_observations(observations, N);
  require(observations.size() > N, "bootstrap: there are ", observations.size(), " observations for ", N,
          " parameters, expected more observations than parameters");
  residuals.check();
  options.check();
  require(fit.converged, "bootstrap: the fit did not converge");
  const auto points = fit_points(observations);

  const double objective = FitObjective<Variables, N>{law, points, residuals}(fit.theta);
  require(same_sum(points, fit.objective, objective), "bootstrap: the fit's objective is ", fit.objective,
          ", but these residuals of these observations sum to ", objective);
  for (const double each : fit.theta)
    require(std::isfinite(each),
            "bootstrap: a coefficient of the fit is 0 or infinite, so no replicate can start from it");

  // The residuals scaled to weight 1 and inflated by sqrt(n / (n - k)) for the k fitted parameters. For
  // Resample::parametric, only their standard deviation.
  std::vector<double> errors;
  double squares = 0;
  for (const auto& p : points) {
    errors.push_back(std::sqrt(p.weight) * (p.log_y - law.log_value(p.log_x, fit.theta)));
    squares += errors.back() * errors.back();
  }
  const double n = static_cast<double>(points.size()), free = n - static_cast<double>(N);
  for (double& e : errors) e *= std::sqrt(n / free);
  if (options.resample == Resample::parametric) errors = {std::sqrt(squares / free)};

  std::size_t not_converged = 0;
  std::vector<FitPoint<Variables>> drawn;
  const Restarts<Variables, N> restarts(law, points, fit.theta);
  const RandomKey key{options.seed};  // a separate key per replicate, so none depends on another
  for (std::size_t i = 0; i < options.count; ++i) {
    resample(drawn, law, points, fit.theta, errors, options.resample, RandomStream(key.fold(i)));
    FitResult<N> replicate;
    if (different_x(drawn) >= N) replicate = fit_from(law, drawn, residuals, restarts.of(drawn));
    if (replicate.converged)
      thetas.push_back(replicate.theta);
    else
      ++not_converged;
  }
  require(!thetas.empty(), "bootstrap: none of ", options.count, " replicates converged");
  return not_converged;
}

}  // namespace detail

// Refits the law to `options.count` resampled sets of observations. `fit` must be the fit of these observations with
// these residuals. Throws Error if it is not, if there are no more observations than parameters (which leaves no
// spread to estimate), or if no replicate converges.
template <ScalingLaw Law>
Bootstrap<Law> bootstrap(const Fit<Law>& fit, const std::vector<Observation<Law::variables>>& observations,
                         const ResidualLoss& residuals = {}, const BootstrapOptions& options = {}) {
  Bootstrap<Law> result;
  result.not_converged = detail::refit_resamples<Law::variables, Law::parameters>(
      detail::law_functions<Law>, fit, observations, residuals, options, result.thetas);
  return result;
}

}  // namespace algoperf
