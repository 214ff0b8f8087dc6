// fit(law, observations, residuals): finds the law's parameters that minimise a sum over residuals of log y, from
// many starts.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "../../core/error.hpp"
#include "../concept.hpp"
#include "../laws/weighted_points.hpp"
#include "fit_objective.hpp"
#include "least_absolute.hpp"
#include "minimize.hpp"
#include "observations.hpp"
#include "residual_loss.hpp"
#include "sensitivity.hpp"

namespace algoperf {

// The result of a fit of a law with N parameters.
template <std::size_t N>
struct FitResult {
  std::array<double, N> theta = {};  // in the law's internal coordinates
  double objective = HUGE_VAL;       // the sum over residuals
  bool converged = false;
  // For each coordinate of theta: true if the observations do not determine it. Either the law's values do not depend
  // on it, or other coordinates can compensate for it, or another start reached the same objective at another value.
  // False for the logarithm of a coefficient that has reached 0.
  std::array<bool, N> undetermined = {};
  // `starts` counts the starts, `reached` those whose objective is within a relative 1e-8 of the optimum. For absolute
  // residuals, `reached` refers to the objective of the Huber losses that preceded the final fit.
  std::size_t starts = 0, reached = 0;
  std::size_t points = 0;
  std::string residuals = {};  // text: how residuals are defined and summed

  bool determined() const { return undetermined == std::array<bool, N>{}; }
};

template <ScalingLaw Law>
struct Fit : FitResult<Law::parameters> {
  using Theta = std::array<double, Law::parameters>;

  // Returns the parameters in the order of Law::names.
  Theta parameters() const { return Law::from_theta(this->theta); }
  // Returns the law's value at x.
  double operator()(const std::array<double, Law::variables>& x) const {
    std::array<double, Law::variables> log_x;
    for (std::size_t i = 0; i < x.size(); ++i) log_x[i] = std::log(x[i]);
    return std::exp(Law::template log_value<double>(log_x, this->theta));
  }
  double operator()(double x) const requires(Law::variables == 1) { return (*this)(std::array<double, 1>{x}); }
};

namespace detail {

// Marks the coordinates in which two optima differ by more than rounding.
template <std::size_t Variables, std::size_t N>
void mark_different(FitResult<N>& fit, const LawFunctions<Variables, N>& law, std::array<double, N> a,
                    std::array<double, N> b) {
  a = law.in_order(a), b = law.in_order(b);
  for (std::size_t i = 0; i < N; ++i)
    if (std::fabs(a[i] - b[i]) > 1e-3 * (1 + std::fabs(b[i]))) fit.undetermined[i] = true;
}
template <std::size_t N>
void mark_as(FitResult<N>& fit, const FitResult<N>& other) {
  for (std::size_t i = 0; i < N; ++i) fit.undetermined[i] |= other.undetermined[i];
}

// Marks the coordinates that the observations do not determine at `theta`, and keeps existing marks. For a coordinate
// that the law's values do not depend on, overwrites the mark: it is set unless the coordinate is the logarithm of a
// coefficient of 0.
template <std::size_t Variables, std::size_t N>
ALGOPERF_COLD void mark_undetermined(FitResult<N>& fit, const LawFunctions<Variables, N>& law,
                                     const std::vector<FitPoint<Variables>>& points,
                                     const std::array<double, N>& theta) {
  constexpr double log_of_none = -20;
  const auto told = sensitivity(law, points, theta);
  for (std::size_t i = 0; i < N; ++i)
    fit.undetermined[i] = told.felt[i] ? fit.undetermined[i] || told.dependent[i] : theta[i] > log_of_none;
}

template <std::size_t Variables, std::size_t N>
ALGOPERF_COLD void name_weights(FitResult<N>& fit, const std::vector<Observation<Variables>>& observations) {
  const auto other = [&](const auto& o) { return o.weight != observations[0].weight; };
  if (std::any_of(observations.begin(), observations.end(), other))
    fit.residuals += ", each by its observation's weight";
}

// Minimises from each start for a limited number of iterations. Then continues from the three lowest points to
// convergence, or from all of them if the sizes do not vary independently.
template <std::size_t Variables, std::size_t N>
FitResult<N> fit_smooth_from(const LawFunctions<Variables, N>& law, const std::vector<FitPoint<Variables>>& points,
                             const ResidualLoss& residuals, const std::vector<std::array<double, N>>& starts) {
  constexpr std::size_t way = 100, end = 3000;
  const bool apart = vary_apart(points);
  const std::size_t followed = apart ? 3 : starts.size();
  const FitObjective<Variables, N> sum{law, points, residuals};
  std::vector<Minimum<N>> minima;
  for (const auto& start : starts) minima.push_back(minimize(sum, start, negligible(points), way));
  std::sort(minima.begin(), minima.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  for (std::size_t i = 0; i < minima.size() && i < followed; ++i)
    if (!minima[i].converged) minima[i] = minimize(sum, minima[i].at, negligible(points), end);
  const auto& best =
      *std::min_element(minima.begin(), minima.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  const double most = best.value * (1 + 1e-8) + negligible(points);
  FitResult<N> fit{.theta = law.in_order(best.at),
                   .objective = best.value,
                   .converged = best.converged,
                   .starts = starts.size(),
                   .points = points.size(),
                   .residuals = "log of form - log of observation, " + residuals.text()};
  // If the sizes do not vary independently, another optimum may lie in a valley so flat that no minimisation
  // converges. Then a looser threshold on the objective applies.
  const double as_low = apart ? most : best.value * (1 + 1e-6) + 1e-13 * total_weight(points);
  for (const auto& m : minima) {
    fit.reached += m.value <= most;
    if (m.value <= as_low && (m.converged || !apart)) mark_different(fit, law, m.at, best.at);
  }
  return fit;
}

// Minimises absolute residuals from the optima of Huber losses. The first delta is the mean absolute residual of the
// least-squares fit. If there are several starts, 1/32 and 1/1024 of it follow, because outliers distort least
// squares and Huber losses whose delta exceeds most residuals. A single start means a refit of nearly the same
// points, which uses only the first delta. If the sizes do not vary independently, the least-squares fit shows which
// terms are interchangeable.
template <std::size_t Variables, std::size_t N>
ALGOPERF_COLD FitResult<N> fit_absolute_from(const LawFunctions<Variables, N>& law,
                                             const std::vector<FitPoint<Variables>>& points,
                                             const std::vector<std::array<double, N>>& starts) {
  const FitObjective<Variables, N> sum{law, points, AbsoluteResiduals{}};
  constexpr double rounding = 1e-13;
  const FitResult<N> of_squares = fit_smooth_from(law, points, SquaredResiduals{}, starts);
  FitResult<N> fit = of_squares;
  fit.objective = sum(fit.theta);
  const double size = fit.objective / total_weight(points);
  for (const double share : {1.0, 1.0 / 32, 1.0 / 1024}) {
    if (!(size > rounding) || (share < 1 && starts.size() == 1)) break;
    FitResult<N> next = fit_smooth_from(law, points, HuberResiduals{size * share}, starts);
    const Minimum<N> least = least_absolute(law, points, next.theta);
    if (!(least.value < fit.objective * (1 - 1e-12)) && share < 1) continue;
    next.theta = least.at;
    next.objective = least.value;
    next.converged = least.converged;
    fit = next;
  }
  if (!vary_apart(points)) mark_as(fit, of_squares);
  fit.residuals = "log of form - log of observation, " + sum.loss.text();
  return fit;
}

template <std::size_t Variables, std::size_t N>
FitResult<N> fit_from(const LawFunctions<Variables, N>& law, const std::vector<FitPoint<Variables>>& points,
                      const ResidualLoss& residuals, const std::vector<std::array<double, N>>& starts) {
  return residuals.is_absolute() ? fit_absolute_from(law, points, starts)
                                 : fit_smooth_from(law, points, residuals, starts);
}

template <std::size_t Variables, std::size_t N>
ALGOPERF_COLD FitResult<N> fit_observations(const LawFunctions<Variables, N>& law,
                                            const std::vector<Observation<Variables>>& observations,
                                            const ResidualLoss& residuals) {
  check_observations(observations, N);
  residuals.check();
  const auto points = fit_points(observations);
  FitResult<N> fit = fit_from(law, points, residuals, law.starts(points));
  mark_undetermined(fit, law, points, fit.theta);
  name_weights(fit, observations);
  return fit;
}

}  // namespace detail

// Fits a law to observations. Residuals are log law(x) - log y, so the fit weighs relative errors of y and is not
// dominated by its largest values. Throws Error for observations that cannot be fitted (observations.hpp). Before using
// the result, check `converged`, `determined()`, and how many starts `reached` the optimum.
template <ScalingLaw Law>
Fit<Law> fit(Law, const std::vector<Observation<Law::variables>>& observations, const ResidualLoss& residuals = {}) {
  return {detail::fit_observations(detail::law_functions<Law>, observations, residuals)};
}

// Notes on the observations that a fit cannot infer.
struct FitNotes {
  std::string units = "not given";     // such as "x: tokens, y: nats per token"; how parameters and FLOPs are counted
  std::string left_out = "not given";  // such as "the five highest losses"
};

namespace detail {

template <std::size_t N>
ALGOPERF_COLD std::string describe(const FitResult<N>& fit, const char* formula,
                                   const std::array<const char*, N>& names, const std::array<double, N>& values,
                                   const FitNotes& notes) {
  std::string s = std::string("form          ") + formula + "\nunits         " + notes.units + "\nresiduals     " +
                  fit.residuals + "\nobservations  " + std::to_string(fit.points) + "; left out: " + notes.left_out +
                  "\noptimiser     Newton, exact derivatives; " + std::to_string(fit.starts) + " starts, of which " +
                  std::to_string(fit.reached) + " reached the optimum" +
                  (fit.converged ? "" : ", which is NOT CONVERGED");
  for (std::size_t i = 0; i < N; ++i)
    if (fit.undetermined[i]) s += std::string("\nNOT DETERMINED by these observations: coordinate of ") + names[i];
  s += "\nobjective     ";
  char number[40];
  std::snprintf(number, sizeof number, "%.13g", fit.objective);
  s += number;
  for (std::size_t i = 0; i < N; ++i) {
    std::snprintf(number, sizeof number, "%.10g", values[i]);
    std::string name = names[i];
    name.resize(name.size() < 14 ? 14 : name.size() + 1, ' ');
    s += "\n" + name + number;
  }
  return s + "\n";
}

}  // namespace detail

// Returns a few lines of text with everything needed to reproduce a fit (Li et al. 2025, "(Mis)Fitting",
// arXiv:2502.18969).
template <ScalingLaw Law>
std::string describe(const Fit<Law>& fit, const FitNotes& notes = {}) {
  return detail::describe<Law::parameters>(fit, Law::formula, Law::names, fit.parameters(), notes);
}

}  // namespace algoperf
