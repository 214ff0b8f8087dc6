// fit(law, observations, residuals): the law's parameters of the least sum of residuals in log y, from many starts.
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

// What a fit found, and how.
template <ScalingLaw Law>
struct Fit {
  using Theta = std::array<double, Law::parameters>;
  Theta theta = {};             // in the law's own coordinates
  double objective = HUGE_VAL;  // the sum over residuals
  bool converged = false;
  // Of each coordinate of theta: is it anybody's guess, since the observations do not move with it, others can make up
  // for it, or another start came as low elsewhere? Not of the logarithm of a coefficient that has come down to 0.
  std::array<bool, Law::parameters> undetermined = {};
  // How many starts came within 1e-8 of the objective; of absolute residuals, of the objective of the Huber losses that
  // led to theirs.
  std::size_t starts = 0, reached = 0;
  std::size_t points = 0;
  std::string residuals = {};  // what they are, and what is summed over them

  // As named in Law::names.
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

// A law's coordinates in the order of its terms that are alike, if it has any.
template <class Law>
std::array<double, Law::parameters> in_order(const std::array<double, Law::parameters>& theta) {
  if constexpr (requires { Law::in_order(theta); })
    return Law::in_order(theta);
  else
    return theta;
}

// Marks the coordinates that differ by more than roundings of an optimum.
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

// Adds what the observations do not tell at `theta` to what was marked; a coordinate that they do not move with counts
// by that alone.
template <class Law>
void mark_untold(Fit<Law>& fit, const std::vector<FitPoint<Law::variables>>& points,
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

// Each start is followed some way, and those that have come lowest to their end, or all where sizes do not vary apart.
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
  Fit<Law> fit{.theta = best.at,
               .objective = best.value,
               .converged = best.converged,
               .starts = starts.size(),
               .points = points.size(),
               .residuals = "log of form - log of observation, " + describe(residuals)};
  // On one line another optimum may lie in a valley so flat that none comes to its end: there, as low as matters.
  const double as_low = apart ? most : best.value * (1 + 1e-6) + 1e-13 * total_weight(points);
  for (const auto& m : minima) {
    fit.reached += m.value <= most;
    if (m.value <= as_low && (m.converged || !apart)) mark_different(fit, m.at, best.at);
  }
  return fit;
}

// Least absolute deviations follow the best starts of Huber's losses, with deltas of the residuals' own size and, from
// more than the one start of nearly the same points, far below it: squares, and a delta above most residuals, are drawn
// aside by what lies far off. Where sizes do not vary apart, squares tell which terms may change places.
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

// Residuals are log law(x) - log y, so that a law is fitted to shares of y, not to its largest values. Throws Error for
// observations that cannot be fitted (observations.hpp). Look at `converged`, at `determined()` and at how many starts
// `reached` the optimum before you believe it.
template <ScalingLaw Law, class Residuals = SquaredResiduals>
Fit<Law> fit(Law, const std::vector<Observation<Law::variables>>& observations, const Residuals& residuals = {}) {
  check_observations(observations, Law::parameters);
  residuals.check();
  const auto points = detail::fit_points(observations);
  Fit<Law> fit = detail::fit_from<Law>(points, residuals, Law::starts(points));
  detail::mark_untold(fit, points, fit.theta);
  detail::name_weights(fit, observations);
  return fit;
}

// What a fit does not know of its observations.
struct FitNotes {
  std::string units = "not told";     // "x: tokens, y: nats a token"; how parameters and FLOPs are counted
  std::string left_out = "not told";  // "the five highest losses"
};

// What must be known to repeat a fit (Li et al. 2025, "(Mis)Fitting", arXiv:2502.18969): a few lines of text.
template <ScalingLaw Law>
std::string describe(const Fit<Law>& fit, const FitNotes& notes = {}) {
  std::string s = std::string("form          ") + Law::formula + "\nunits         " + notes.units + "\nresiduals     " +
                  fit.residuals + "\nobservations  " + std::to_string(fit.points) + "; left out: " + notes.left_out +
                  "\noptimiser     Newton, exact derivatives; " + std::to_string(fit.starts) + " starts, of which " +
                  std::to_string(fit.reached) + " reached the optimum" +
                  (fit.converged ? "" : ", which is NOT CONVERGED");
  for (std::size_t i = 0; i < Law::parameters; ++i)
    if (fit.undetermined[i]) s += std::string("\nNOT TOLD by these observations: coordinate of ") + Law::names[i];
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
