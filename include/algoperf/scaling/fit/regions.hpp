// The regions of a learning curve (Hestness et al. 2017, section 5): at first what guessing costs, then a power law,
// then an error that no data removes.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/random.hpp"
#include "../laws/bounded_power_law.hpp"
#include "../laws/capped_power_law.hpp"
#include "../laws/power_law.hpp"
#include "../laws/power_law_with_floor.hpp"
#include "../laws/weighted_points.hpp"
#include "bootstrap.hpp"
#include "fit.hpp"
#include "observations.hpp"
#include "percentile.hpp"
#include "sensitivity.hpp"

namespace algoperf {

// Where one region ends and the next begins: where the curve's exponent is half the power law's.
struct Boundary {
  bool found = false;
  double at = 0;           // x, if found
  double confidence = 0;   // the share of bootstraps that find it too, or too find none
  Interval interval = {};  // of `at`, 90 % of the bootstraps that find it; {0, 0} if none does
};

struct Regions {
  Boundary guessing_ends, floor_begins;
  double exponent = 0;  // of the power law between, wherever it ends: y falls as x^exponent
  std::size_t points = 0;

  // Sizes at which the curve is a power law, as far as was measured from `first` to `last`.
  Interval power_law(double first, double last) const {
    return {guessing_ends.found && guessing_ends.at > first ? guessing_ends.at : first,
            floor_begins.found && floor_begins.at < last ? floor_begins.at : last};
  }
};

namespace detail {

struct CurveEnds {
  double guessing_ends = NAN, floor_begins = NAN, exponent = 0;
};

// Of the line, the line with a floor, with a cap, and with both, the one of the least Bayesian information criterion
// n log(S / n) + k log n (Schwarz 1978), which must be less by 10, very strong evidence (Kass & Raftery 1995), where
// what it adds lies beyond the observations: a floor that begins after them, guessing that ended before. Only ends
// among the observations are told.
class RegionFinder {
 public:
  using Points = std::vector<FitPoint<1>>;
  explicit RegionFinder(const Points& points)
      : line_(from_starts<PowerLaw>(points)),
        floor_(from_starts<PowerLawWithFloor>(points)),
        capped_(from_starts<CappedPowerLaw>(points)),
        bounded_(from_starts<BoundedPowerLaw>(points)) {}

  // `points`, of mean weight 1, may be resampled: minimisations then begin where those of all observations ended.
  CurveEnds find(const Points& points) const {
    const Extent measured = extent(points, log_x);
    const double n = total_weight(points);
    const auto criterion = [&](double squares, std::size_t parameters) {
      return n * std::log(squares / n + 1e-300) + static_cast<double>(parameters) * std::log(n);
    };
    const auto before = [&](double at) { return at < measured.most; };
    const auto after = [&](double at) { return at > measured.least; };
    const auto within = [&](double at) { return before(at) && after(at); };
    const auto told = [&](double at) { return within(at) ? std::exp(at) : NAN; };

    const auto line = again(points, line_);
    CurveEnds ends{.exponent = line.at[1]};
    double least = criterion(line.value, PowerLaw::parameters);
    const auto better = [&](double squares, std::size_t parameters, bool all_within) {
      const double value = criterion(squares, parameters);
      if (!(value < least - (all_within ? 0 : 10))) return false;
      least = value;
      return true;
    };

    const auto floor = again(points, floor_);
    const double begins = (floor.at[1] - floor.at[0]) / floor.at[2];
    if (floor.at[2] > 0 && after(begins) && better(floor.value, PowerLawWithFloor::parameters, within(begins)))
      ends = {.floor_begins = told(begins), .exponent = -floor.at[2]};

    const auto capped = again(points, capped_);
    if (capped.at[2] > 0 && before(capped.at[1]) &&
        better(capped.value, CappedPowerLaw::parameters, within(capped.at[1])))
      ends = {.guessing_ends = told(capped.at[1]), .exponent = -capped.at[2]};

    const auto bounded = again(points, bounded_);
    const double ratio = std::exp(bounded.at[1] - bounded.at[0]) - 1;  // g / e - 1
    const double levels = bounded.at[2] + std::log(ratio) / bounded.at[3];
    if (bounded.at[3] > 0 && ratio > 1 && before(bounded.at[2]) && after(levels) &&
        better(bounded.value, BoundedPowerLaw::parameters, within(bounded.at[2]) && within(levels)))
      ends = {.guessing_ends = told(bounded.at[2]), .floor_begins = told(levels), .exponent = -bounded.at[3]};
    return ends;
  }

 private:
  template <class Law>
  static Restarts<Law> from_starts(const Points& points) {
    return {points, fit_from<Law>(points, SquaredResiduals{}, Law::starts(points)).theta};
  }
  template <class Law>
  static Minimum<Law::parameters> again(const Points& points, const Restarts<Law>& restarts) {
    Minimum<Law::parameters> least;
    for (const auto& start : restarts.of(points)) {
      const auto minimum = minimize(FitObjective<Law, SquaredResiduals>{points, {}}, start, negligible(points), 100);
      if (minimum.value < least.value) least = minimum;
    }
    return least;
  }

  Restarts<PowerLaw> line_;
  Restarts<PowerLawWithFloor> floor_;
  Restarts<CappedPowerLaw> capped_;
  Restarts<BoundedPowerLaw> bounded_;
};

inline Boundary boundary(double at, const std::vector<double>& replicates) {
  Boundary b{.found = !std::isnan(at)};
  std::vector<double> found;
  for (const double x : replicates)
    if (!std::isnan(x)) found.push_back(x);
  const double share = static_cast<double>(found.size()) / static_cast<double>(replicates.size());
  b.confidence = b.found ? share : 1 - share;
  if (b.found) b.at = at;
  if (!found.empty()) b.interval = percentile_interval(std::move(found), 0.9);
  return b;
}

}  // namespace detail

struct RegionOptions {
  std::size_t bootstraps = 200;
  std::uint64_t seed = 1;
};

// Throws Error as fit() does; at least 6 observations, of sizes that rise over what is to be told apart: of boundaries
// beyond the observations nothing is said.
inline Regions find_regions(const std::vector<Observation<1>>& observations, const RegionOptions& options = {}) {
  check_observations(observations, 6);
  require(options.bootstraps >= 1, "find_regions: bootstraps is 0, expected at least 1");
  const auto points = detail::of_mean_weight_one(detail::fit_points(observations));
  const detail::RegionFinder finder(points);
  const detail::CurveEnds ends = finder.find(points);
  std::vector<double> guessing, floors;
  std::vector<detail::FitPoint<1>> drawn;
  const RandomKey key{options.seed};
  for (std::size_t i = 0; i < options.bootstraps; ++i) {
    RandomStream random(key.fold(i));
    detail::draw_pairs(drawn, points, random);
    if (drawn.size() < BoundedPowerLaw::parameters + 1) continue;
    const detail::CurveEnds replicate = finder.find(drawn);
    guessing.push_back(replicate.guessing_ends);
    floors.push_back(replicate.floor_begins);
  }
  require(!guessing.empty(), "find_regions: no bootstrap had enough observations");
  return {.guessing_ends = detail::boundary(ends.guessing_ends, guessing),
          .floor_begins = detail::boundary(ends.floor_begins, floors),
          .exponent = ends.exponent,
          .points = points.size()};
}

}  // namespace algoperf
