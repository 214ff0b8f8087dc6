// fit(law, observations, residuals): finds the law's parameters that minimise a sum over residuals of log y, from
// many starts.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

#include "../../core/error.hpp"
#include "../concept.hpp"
#include "../laws/weighted_points.hpp"
#include "fit_objective.hpp"
#include "jet.hpp"
#include "least_absolute.hpp"
#include "minimize.hpp"
#include "observations.hpp"
#include "residual_loss.hpp"
#include "sensitivity.hpp"

namespace algoperf {

// The result of a fit.
template <ScalingLaw Law>
struct Fit {
  using Theta = std::array<double, Law::parameters>;
  Theta theta = {};             // in the law's internal coordinates
  double objective = HUGE_VAL;  // the sum over residuals
  bool converged = false;
  // For each coordinate of theta: true if the observations do not determine it. Either the law's values do not depend
  // on it, or other coordinates can compensate for it, or another start reached the same objective at another value.
  // False for the logarithm of a coefficient that has reached 0.
  std::array<bool, Law::parameters> undetermined = {};
  // `starts` counts the starts, `reached` those whose objective is within a relative 1e-8 of the optimum. For absolute
  // residuals, `reached` refers to the objective of the Huber losses that preceded the final fit.
  std::size_t starts = 0, reached = 0;
  std::size_t points = 0;
  std::string residuals = {};  // text: how residuals are defined and summed

  // Returns the parameters in the order of Law::names.
  Theta parameters() const { return Law::from_theta(theta); }
  bool determined() const { return undetermined == std::array<bool, Law::parameters>{}; }
  double operator()(const std::array<double, Law::variables>& x) const {
    std::array<double, Law::variables> log_x;
    for (std::size_t i = 0; i < x.size(); ++i) log_x[i] = std::log(x[i]);
    return std::exp(Law::template log_value<double>(log_x, theta));
  }
  double operator()(double x) const requires(Law::variables == 1) { return (*this)(std::array<double, 1>{x}); }
};

namespace detail {

inline std::string describe(const SquaredResiduals&) { return "sum of squares"; }
inline std::string describe(const HuberResiduals& r) { return "sum of Huber losses, delta = " + text(r.delta); }
inline std::string describe(const AbsoluteResiduals&) { return "sum of absolute values"; }

// Returns the coordinates with interchangeable terms sorted, if the law has such terms.
template <class Law>
std::array<double, Law::parameters> in_order(const std::array<double, Law::parameters>& theta) {
  if constexpr (requires { Law::in_order(theta); })
    return Law::in_order(theta);
  else
    return theta;
}

// Marks the coordinates in which two optima differ by more than rounding.
template <class Law>
void mark_different(Fit<Law>& fit, std::array<double, Law::parameters> a, std::array<double, Law::parameters> b) {
  a = in_order<Law>(a), b = in_order<Law>(b);
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::fabs(a[i] - b[i]) > 1e-3 * (1 + std::fabs(b[i]))) fit.undetermined[i] = true;
}
template <class Law>
void mark_as(Fit<Law>& fit, const Fit<Law>& other) {
  for (std::size_t i = 0; i < Law::parameters; ++i) fit.undetermined[i] |= other.undetermined[i];
}

// Marks the coordinates that the observations do not determine at `theta`, and keeps existing marks. For a coordinate
// that the law's values do not depend on, overwrites the mark: it is set unless the coordinate is the logarithm of a
// coefficient of 0.
template <class Law>
void mark_undetermined(Fit<Law>& fit, const std::vector<FitPoint<Law::variables>>& points,
                       const std::array<double, Law::parameters>& theta) {
  constexpr double log_of_none = -20;
  const auto told = sensitivity<Law>(points, theta);
  for (std::size_t i = 0; i < Law::parameters; ++i)
    fit.undetermined[i] = told.felt[i] ? fit.undetermined[i] || told.dependent[i] : theta[i] > log_of_none;
}

template <class Law>
void name_weights(Fit<Law>& fit, const std::vector<Observation<Law::variables>>& observations) {
  const auto other = [&](const auto& o) { return o.weight != observations[0].weight; };
  if (std::any_of(observations.begin(), observations.end(), other))
    fit.residuals += ", each by its observation's weight";
}

// Minimises from each start for a limited number of iterations. Then continues from the three lowest points to
// convergence, or from all of them if the sizes do not vary independently.
template <class Law, class Residuals>
Fit<Law> fit_smooth_from(const std::vector<FitPoint<Law::variables>>& points, const Residuals& residuals,
                         const std::vector<std::array<double, Law::parameters>>& starts) {
  constexpr std::size_t way = 100, end = 3000;
  const bool apart = vary_apart(points);
  const std::size_t followed = apart ? 3 : starts.size();
  const FitObjective<Law, Residuals> sum{points, residuals};
  std::vector<Minimum<Law::parameters>> minima;
  for (const auto& start : starts) minima.push_back(minimize(sum, start, negligible(points), way));
  std::sort(minima.begin(), minima.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  for (std::size_t i = 0; i < minima.size() && i < followed; ++i)
    if (!minima[i].converged) minima[i] = minimize(sum, minima[i].at, negligible(points), end);
  const auto& best =
      *std::min_element(minima.begin(), minima.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  const double most = best.value * (1 + 1e-8) + negligible(points);
  Fit<Law> fit{.theta = in_order<Law>(best.at),
               .objective = best.value,
               .converged = best.converged,
               .starts = starts.size(),
               .points = points.size(),
               .residuals = "log of form - log of observation, " + describe(residuals)};
  // If the sizes do not vary independently, another optimum may lie in a valley so flat that no minimisation
  // converges. Then a looser threshold on the objective applies.
  const double as_low = apart ? most : best.value * (1 + 1e-6) + 1e-13 * total_weight(points);
  for (const auto& m : minima) {
    fit.reached += m.value <= most;
    if (m.value <= as_low && (m.converged || !apart)) mark_different(fit, m.at, best.at);
  }
  return fit;
}

// Minimises absolute residuals from the optima of Huber losses. The first delta is the mean absolute residual of the
// least-squares fit. If there are several starts, 1/32 and 1/1024 of it follow, because outliers distort least
// squares and Huber losses whose delta exceeds most residuals. A single start means a refit of nearly the same
// points, which uses only the first delta. If the sizes do not vary independently, the least-squares fit shows which
// terms are interchangeable.
template <class Law>
Fit<Law> fit_absolute_from(const std::vector<FitPoint<Law::variables>>& points,
                           const std::vector<std::array<double, Law::parameters>>& starts) {
  const FitObjective<Law, AbsoluteResiduals> sum{points, {}};
  constexpr double rounding = 1e-13;
  const Fit<Law> of_squares = fit_smooth_from<Law>(points, SquaredResiduals{}, starts);
  Fit<Law> fit = of_squares;
  fit.objective = sum(fit.theta);
  const double size = fit.objective / total_weight(points);
  for (const double share : {1.0, 1.0 / 32, 1.0 / 1024}) {
    if (!(size > rounding) || (share < 1 && starts.size() == 1)) break;
    Fit<Law> next = fit_smooth_from<Law>(points, HuberResiduals{size * share}, starts);
    const Minimum<Law::parameters> least = least_absolute<Law>(points, next.theta);
    if (!(least.value < fit.objective * (1 - 1e-12)) && share < 1) continue;
    next.theta = least.at;
    next.objective = least.value;
    next.converged = least.converged;
    fit = next;
  }
  if (!vary_apart(points)) mark_as(fit, of_squares);
  fit.residuals = "log of form - log of observation, " + describe(AbsoluteResiduals{});
  return fit;
}

template <class Law, class Residuals>
Fit<Law> fit_from(const std::vector<FitPoint<Law::variables>>& points, const Residuals& residuals,
                  const std::vector<std::array<double, Law::parameters>>& starts) {
  if constexpr (std::is_same_v<Residuals, AbsoluteResiduals>)
    return fit_absolute_from<Law>(points, starts);
  else
    return fit_smooth_from<Law>(points, residuals, starts);
}

}  // namespace detail

// Fits a law to observations. Residuals are log law(x) - log y, so the fit weighs relative errors of y and is not
// dominated by its largest values. Throws Error for observations that cannot be fitted (observations.hpp). Before using
// the result, check `converged`, `determined()`, and how many starts `reached` the optimum.
template <ScalingLaw Law, class Residuals = SquaredResiduals>
Fit<Law> fit(Law, const std::vector<Observation<Law::variables>>& observations, const Residuals& residuals = {}) {
  check_observations(observations, Law::parameters);
  residuals.check();
  const auto points = detail::fit_points(observations);
  Fit<Law> fit = detail::fit_from<Law>(points, residuals, Law::starts(points));
  detail::mark_undetermined(fit, points, fit.theta);
  detail::name_weights(fit, observations);
  return fit;
}

// Notes on the observations that a fit cannot infer.
struct FitNotes {
  std::string units = "not given";     // such as "x: tokens, y: nats per token"; how parameters and FLOPs are counted
  std::string left_out = "not given";  // such as "the five highest losses"
};

// Returns a few lines of text with everything needed to reproduce a fit (Li et al. 2025, "(Mis)Fitting",
// arXiv:2502.18969).
template <ScalingLaw Law>
std::string describe(const Fit<Law>& fit, const FitNotes& notes = {}) {
  std::string s = std::string("form          ") + Law::formula + "\nunits         " + notes.units + "\nresiduals     " +
                  fit.residuals + "\nobservations  " + std::to_string(fit.points) + "; left out: " + notes.left_out +
                  "\noptimiser     Newton, exact derivatives; " + std::to_string(fit.starts) + " starts, of which " +
                  std::to_string(fit.reached) + " reached the optimum" +
                  (fit.converged ? "" : ", which is NOT CONVERGED");
  for (std::size_t i = 0; i < Law::parameters; ++i)
    if (fit.undetermined[i]) s += std::string("\nNOT DETERMINED by these observations: coordinate of ") + Law::names[i];
  s += "\nobjective     ";
  char number[40];
  std::snprintf(number, sizeof number, "%.13g", fit.objective);
  s += number;
  const auto values = fit.parameters();
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::snprintf(number, sizeof number, "%.10g", values[i]);
    std::string name = Law::names[i];
    name.resize(name.size() < 14 ? 14 : name.size() + 1, ' ');
    s += "\n" + name + number;
  }
  return s + "\n";
}

}  // namespace algoperf
