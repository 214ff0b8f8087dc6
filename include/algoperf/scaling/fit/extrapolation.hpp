#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "../../core/error.hpp"
#include "../laws/bounded_power_law.hpp"
#include "../laws/power_law.hpp"
#include "../laws/power_law_with_floor.hpp"
#include "../laws/shifted_power_law.hpp"
#include "../laws/weighted_points.hpp"
#include "fit.hpp"
#include "percentile.hpp"
#include "regions.hpp"

namespace algoperf {

// Half the width, in units of noise + per_reach * reach, that held a share of 0.5, 0.8, 0.9 and 0.95 of what lay beyond
// the fitted part of the 72 vision curves of Alabdulmohsin et al. 2022: 14981 observations. Specialise it for a law of
// your own, from curves of your own.
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
  double reach = 0;  // log of x over the largest x observed, or of the smallest over x; 0 between
};

namespace detail {

template <class Law>
double calibrated(double level) {
  static_assert(calibration<Law>[0] > 0,
                "algoperf: it is known how wrong PowerLaw, PowerLawWithFloor, BoundedPowerLaw and ShiftedPowerLaw are; "
                "for another law specialise algoperf::calibration from curves of your own");
  constexpr std::array<double, 4> levels = {0.5, 0.8, 0.9, 0.95};
  for (std::size_t i = 0; i < levels.size(); ++i)
    if (level == levels[i]) return calibration<Law>[i];
  fail("extrapolation: level is ", level, ", expected 0.5, 0.8, 0.9 or 0.95");
}

}  // namespace detail

// A law fitted to a curve, and how wrong it has been there: the deviation of its residuals, and how its error grew
// beyond what it was fitted to, in log y for each factor of e in x.
template <ScalingLaw Law>
struct Backtest {
  Fit<Law> fit;
  double noise = 0, per_reach = 0;
  double smallest = 0, largest = 0;  // x observed

  // What the law says at any x, and the interval that held a share of `level` on other curves: 0.5, 0.8, 0.9 or 0.95.
  // Throws Error for another level or x <= 0.
  Extrapolation at(double x, double level = 0.9) const {
    require(x > 0 && x < HUGE_VAL, "extrapolation: x is ", x, ", expected a positive number");
    const double reach = std::fmax(0, std::log(x > largest ? x / largest : smallest / x)), value = fit(x);
    const double half = detail::calibrated<Law>(level) * (noise + per_reach * reach);
    return {value, {value * std::exp(-half), value * std::exp(half)}, reach};
  }
};

// Fits the first 40, 50, 60, 70 and 80 % of the observations, in order of x, and looks at the rest: per_reach is the
// median of |log law(x) - log y| / log(x / largest fitted x). Throws Error as fit() does, and with fewer than 4
// observations more than parameters.
template <ScalingLaw Law>
requires(Law::variables == 1) Backtest<Law> backtest(Law, std::vector<Observation<1>> observations) {
  constexpr std::size_t least = Law::parameters + 2;
  check_observations(observations, Law::parameters);
  require(observations.size() >= least + 2, "backtest: there are ", observations.size(), " observations, expected ",
          least + 2, " at least for ", Law::parameters, " parameters");
  std::sort(observations.begin(), observations.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
  const std::size_t n = observations.size();
  std::vector<double> errors;
  for (const double share : {0.4, 0.5, 0.6, 0.7, 0.8}) {
    const std::size_t fitted = std::max(least, static_cast<std::size_t>(share * static_cast<double>(n)));
    if (fitted >= n) continue;
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
  double level = 0.9;     // 0.5, 0.8, 0.9 or 0.95, those that were calibrated
  bool anywhere = false;  // where the curve is no power law, too
};

// What a law says at x, most often beyond all observations, and an interval that tells how wrong such laws have been on
// this curve and others, which is mostly more than noise. Of what was held out of curves of a data set that it was not
// calibrated on, 90 % held 89 % (PowerLawWithFloor, PowerLaw) or 86 % (BoundedPowerLaw, ShiftedPowerLaw), with 60 to
// 100 % by data set. Refuses, with a sentence, to go where nothing speaks for the law: where y does not fall; below the
// smallest x; before the end of guessing, or where the floor has been reached, if the law has no such region; and
// further beyond the largest x than the power law has been seen to reach, from the end of guessing on. `anywhere` goes
// nevertheless.
template <ScalingLaw Law>
requires(Law::variables == 1) Extrapolation extrapolate(Law, const std::vector<Observation<1>>& observations, double x,
                                                        const ExtrapolationOptions& options = {}) {
  const Backtest<Law> past = backtest(Law{}, observations);
  const Extrapolation said = past.at(x, options.level);
  if (options.anywhere) return said;
  const auto refuse_unless = [](bool good, const auto&... why) {
    require(good, "extrapolate: ", why..., "; ask for `anywhere` to go nevertheless");
  };
  const auto points = detail::of_mean_weight_one(detail::fit_points(observations));
  const detail::CurveEnds ends = detail::RegionFinder(points).find(points);
  refuse_unless(ends.exponent < 0, "y does not fall with x, so there is no power law to go on");
  refuse_unless(x >= past.smallest, x, " is less than the smallest x observed, ", past.smallest);
  // A law levels out by itself if it does so at sizes that are out of all reach.
  const double far = std::exp(600);
  const bool has_guessing = past.fit(1 / far) < 10 * past.fit(past.smallest);
  refuse_unless(has_guessing || !(x < ends.guessing_ends), x, " is where y is still what guessing costs, up to ",
                ends.guessing_ends, ", of which ", Law::formula, " knows nothing");
  const bool has_floor = past.fit(far) > 0.1 * past.fit(past.largest);
  refuse_unless(has_floor || !(x > ends.floor_begins), x, " is where y comes to its floor, from ", ends.floor_begins,
                " on, of which ", Law::formula, " knows nothing");
  const double seen = past.largest / (std::isnan(ends.guessing_ends) ? past.smallest : ends.guessing_ends);
  refuse_unless(x / past.largest <= seen, x, " is ", x / past.largest,
                " times the largest x observed, where the power law has been seen over a factor of ", seen);
  return said;
}

}  // namespace algoperf
