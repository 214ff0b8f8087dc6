// extrapolate(law, observations, x): the value of a fitted law beyond the observations, with a calibrated interval.
// backtest(law, observations): the fit, and estimates of its error beyond the fitted part.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/percentile.hpp"
#include "../laws/bounded_power_law.hpp"
#include "../laws/power_law.hpp"
#include "../laws/power_law_with_floor.hpp"
#include "../laws/shifted_power_law.hpp"
#include "../laws/weighted_points.hpp"
#include "fit.hpp"
#include "regions.hpp"

namespace algoperf {

// Half-widths of intervals in log y, in units of noise + per_reach * reach. Intervals of these half-widths contained
// fractions of 0.5, 0.8, 0.9 and 0.95 of the observations beyond the fitted part of the 72 vision curves of
// Alabdulmohsin et al. 2022: 14981 observations. To calibrate another law, specialise the variable with values measured
// on your own curves.
template <ScalingLaw Law>
inline constexpr std::array<double, 4> calibration = {};
template <>
inline constexpr std::array<double, 4> calibration<PowerLaw> = {1.34, 1.89, 2.57, 2.97};
template <>
inline constexpr std::array<double, 4> calibration<PowerLawWithFloor> = {1.03, 1.56, 2.06, 2.46};
template <>
inline constexpr std::array<double, 4> calibration<BoundedPowerLaw> = {0.68, 1.12, 1.67, 2.26};
template <>
inline constexpr std::array<double, 4> calibration<ShiftedPowerLaw> = {0.68, 1.19, 1.66, 2.23};

struct Extrapolation {
  double value = 0;
  Interval interval;
  double reach = 0;  // log(x / largest observed x), or log(smallest observed x / x); 0 between the two
};

namespace detail {

template <class Law>
double calibrated(double level) {
  static_assert(
      calibration<Law>[0] > 0,
      "algoperf: only PowerLaw, PowerLawWithFloor, BoundedPowerLaw and ShiftedPowerLaw are calibrated; for another "
      "law, specialise algoperf::calibration with values measured on curves of your own");
  constexpr std::array<double, 4> levels = {0.5, 0.8, 0.9, 0.95};
  for (std::size_t i = 0; i < levels.size(); ++i)
    if (level == levels[i]) return calibration<Law>[i];
  fail("extrapolation: level is ", level, ", expected 0.5, 0.8, 0.9 or 0.95");
}

}  // namespace detail

// A law fitted to a curve, with estimates of its error: `noise` is the standard deviation of its residuals, and
// `per_reach` is how fast its error grew beyond the fitted part, in log y per factor of e in x.
template <ScalingLaw Law>
struct Backtest {
  Fit<Law> fit;
  double noise = 0, per_reach = 0;
  double smallest = 0, largest = 0;  // of the observed x

  // Returns the law's value at any x > 0, and an interval around it. On the calibration curves such intervals
  // contained a fraction of `level` of the held-out observations. Throws Error if level is not 0.5, 0.8, 0.9 or 0.95,
  // or if x is not positive and finite.
  Extrapolation at(double x, double level = 0.9) const {
    require(x > 0 && x < HUGE_VAL, "extrapolation: x is ", x, ", expected a positive number");
    const double reach = std::fmax(0, std::log(x > largest ? x / largest : smallest / x)), value = fit(x);
    const double half = detail::calibrated<Law>(level) * (noise + per_reach * reach);
    return {value, {value * std::exp(-half), value * std::exp(half)}, reach};
  }
};

// Fits the law to the observations at the first 40, 50, 60, 70 and 80 % of the different x, in ascending order, and
// measures its error on the rest. Each part has at least Law::parameters + 2 different x. per_reach is the median of
// |log law(x) - log y| / log(x / largest fitted x). Throws Error as fit() does, and if there are fewer than
// Law::parameters + 4 different x.
template <ScalingLaw Law>
requires(Law::variables == 1) Backtest<Law> backtest(Law, std::vector<Observation<1>> observations) {
  constexpr std::size_t least = Law::parameters + 2;
  check_observations(observations, Law::parameters);
  std::sort(observations.begin(), observations.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
  const std::size_t n = observations.size();
  std::vector<std::size_t> ends;  // of the observations at each different x
  for (std::size_t i = 1; i <= n; ++i)
    if (i == n || observations[i].x != observations[i - 1].x) ends.push_back(i);
  require(ends.size() >= least + 2, "backtest: there are ", ends.size(), " observations of different x, expected ",
          least + 2, " at least for ", Law::parameters, " parameters");
  std::vector<double> errors;
  for (const double share : {0.4, 0.5, 0.6, 0.7, 0.8}) {
    const std::size_t different = std::max(least, static_cast<std::size_t>(share * static_cast<double>(ends.size())));
    if (different >= ends.size()) continue;
    const std::size_t fitted = ends[different - 1];
    const auto part = fit(Law{}, {observations.begin(), observations.begin() + static_cast<std::ptrdiff_t>(fitted)});
    for (std::size_t i = fitted; i < n; ++i) {
      const double reach = std::log(observations[i].x[0] / observations[fitted - 1].x[0]);
      errors.push_back(std::fabs(std::log(part(observations[i].x) / observations[i].y)) / reach);
    }
  }
  const auto middle = errors.begin() + static_cast<std::ptrdiff_t>((errors.size() - 1) / 2);
  std::nth_element(errors.begin(), middle, errors.end());
  const Fit<Law> whole = fit(Law{}, observations);
  const double square = whole.objective / total_weight(observations);
  const double freedom = static_cast<double>(n - Law::parameters) / static_cast<double>(n);
  return {.fit = whole,
          .noise = std::sqrt(square / freedom),
          .per_reach = *middle,
          .smallest = observations.front().x[0],
          .largest = observations.back().x[0]};
}

struct ExtrapolationOptions {
  double level = 0.9;     // 0.5, 0.8, 0.9 or 0.95, the calibrated levels
  bool anywhere = false;  // extrapolate even where the curve is not a power law
};

// Returns the law's value at x, usually beyond all observations, and an interval. The interval reflects how wrong
// such laws have been on this curve and on others, which is usually more than the noise. In cross-validation over the
// four calibration data sets, 90 % intervals contained 89 % (PowerLawWithFloor, PowerLaw) or 86 % (BoundedPowerLaw,
// ShiftedPowerLaw) of the held-out observations, between 60 and 100 % per data set.
//
// Unless `anywhere` is set, throws Error where the observations do not support a power law:
//   - y does not fall with x;
//   - x is below the smallest observed x;
//   - x lies in the curve's guessing region or floor region (regions.hpp), and the law does not model that region;
//   - x / (largest observed x) exceeds the factor over which the power law was observed: from the end of the guessing
//     region, or else the smallest x, to the largest x.
template <ScalingLaw Law>
requires(Law::variables == 1) Extrapolation extrapolate(Law, const std::vector<Observation<1>>& observations, double x,
                                                        const ExtrapolationOptions& options = {}) {
  const Backtest<Law> past = backtest(Law{}, observations);
  const Extrapolation said = past.at(x, options.level);
  if (options.anywhere) return said;
  const auto refuse_unless = [](bool good, const auto&... why) {
    require(good, "extrapolate: ", why..., "; set `anywhere` to extrapolate regardless");
  };
  const auto points = detail::of_mean_weight_one(detail::fit_points(observations));
  const detail::CurveEnds ends = detail::RegionFinder(points).find(points);
  refuse_unless(ends.exponent < 0, "y does not fall with x, so there is no power law to follow");
  refuse_unless(x >= past.smallest, x, " is less than the smallest x observed, ", past.smallest);
  // The law models guessing or a floor if it levels out for sizes far outside any practical range.
  const double far = std::exp(600);
  const bool has_guessing = past.fit(1 / far) < 10 * past.fit(past.smallest);
  refuse_unless(has_guessing || !ends.guessing_ends || x >= *ends.guessing_ends, x,
                " lies in the guessing region (x < ", ends.guessing_ends.value_or(0), "), which ", Law::formula,
                " does not model");
  const bool has_floor = past.fit(far) > 0.1 * past.fit(past.largest);
  refuse_unless(has_floor || !ends.floor_begins || x <= *ends.floor_begins, x, " lies in the floor region (x > ",
                ends.floor_begins.value_or(0), "), which ", Law::formula, " does not model");
  const double seen = past.largest / ends.guessing_ends.value_or(past.smallest);
  refuse_unless(x / past.largest <= seen, x, " is ", x / past.largest,
                " times the largest x observed, but the power law was observed over a factor of only ", seen);
  return said;
}

}  // namespace algoperf
