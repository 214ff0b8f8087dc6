// The regions of a learning curve (Hestness et al. 2017, section 5): the error of guessing, then a power law, then an
// error that more data does not reduce.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/percentile.hpp"
#include "../../core/random.hpp"
#include "../laws/bounded_power_law.hpp"
#include "../laws/capped_power_law.hpp"
#include "../laws/power_law.hpp"
#include "../laws/power_law_with_floor.hpp"
#include "../laws/weighted_points.hpp"
#include "bootstrap.hpp"
#include "fit.hpp"
#include "observations.hpp"
#include "sensitivity.hpp"

namespace algoperf {

// The boundary between two regions: where the curve's exponent is half the power law's.
struct Boundary {
  bool found = false;
  double at = 0;           // x, if found
  double confidence = 0;   // the fraction of bootstraps that agree on whether it is found
  Interval interval = {};  // of `at`, 90 %, over the bootstraps that find it; {0, 0} if none does
};

struct Regions {
  Boundary guessing_ends, floor_begins;
  double exponent = 0;  // of the power law between the boundaries, found or not: y falls as x^exponent
  std::size_t points = 0;

  // Returns the range of sizes in which the curve is a power law, within the measured range from `first` to `last`.
  Interval power_law(double first, double last) const {
    return {guessing_ends.found && guessing_ends.at > first ? guessing_ends.at : first,
            floor_begins.found && floor_begins.at < last ? floor_begins.at : last};
  }
};

namespace detail {

struct CurveEnds {
  std::optional<double> guessing_ends = {}, floor_begins = {};  // empty unless within the observed range
  double exponent = 0;
};

// Selects one of four laws: a power law alone, with a floor, with a cap, or with both. The law with the lowest
// Bayesian information criterion n log(S / n) + k log n (Schwarz 1978) wins. A law whose additional boundary lies
// outside the observed range (a floor that begins after it, or guessing that ends before it) must have a criterion
// lower by 10, which is very strong evidence (Kass & Raftery 1995). Only boundaries within the range are reported.
class RegionFinder {
 public:
  using Points = std::vector<FitPoint<1>>;
  explicit RegionFinder(const Points& points)
      : line_(from_starts<PowerLaw>(points)),
        floor_(from_starts<PowerLawWithFloor>(points)),
        capped_(from_starts<CappedPowerLaw>(points)),
        bounded_(from_starts<BoundedPowerLaw>(points)) {}

  // `points` must have a mean weight of 1. They may be a resample: minimisations start from the optima of the points
  // passed to the constructor.
  CurveEnds find(const Points& points) const {
    const Extent measured = extent(points, log_x);
    const double n = total_weight(points);
    const auto criterion = [&](double squares, std::size_t parameters) {
      return n * std::log(squares / n + 1e-300) + static_cast<double>(parameters) * std::log(n);
    };
    const auto before = [&](double at) { return at < measured.most; };
    const auto after = [&](double at) { return at > measured.least; };
    const auto within = [&](double at) { return before(at) && after(at); };
    const auto reported = [&](double at) { return within(at) ? std::optional(std::exp(at)) : std::nullopt; };

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
      ends = {.floor_begins = reported(begins), .exponent = -floor.at[2]};

    const auto capped = again(points, capped_);
    if (capped.at[2] > 0 && before(capped.at[1]) &&
        better(capped.value, CappedPowerLaw::parameters, within(capped.at[1])))
      ends = {.guessing_ends = reported(capped.at[1]), .exponent = -capped.at[2]};

    const auto bounded = again(points, bounded_);
    const double ratio = std::exp(bounded.at[1] - bounded.at[0]) - 1;  // g / e - 1
    const double levels = bounded.at[2] + std::log(ratio) / bounded.at[3];
    if (bounded.at[3] > 0 && ratio > 1 && before(bounded.at[2]) && after(levels) &&
        better(bounded.value, BoundedPowerLaw::parameters, within(bounded.at[2]) && within(levels)))
      ends = {.guessing_ends = reported(bounded.at[2]), .floor_begins = reported(levels), .exponent = -bounded.at[3]};
    return ends;
  }

 private:
  template <class Law>
  static Restarts<1, Law::parameters> from_starts(const Points& points) {
    const auto& law = law_functions<Law>;
    return {law, points, fit_from(law, points, SquaredResiduals{}, law.starts(points)).theta};
  }
  template <std::size_t N>
  static Minimum<N> again(const Points& points, const Restarts<1, N>& restarts) {
    const FitObjective<1, N> sum{restarts.law(), points, SquaredResiduals{}};
    Minimum<N> least;
    for (const auto& start : restarts.of(points)) {
      const auto minimum = minimize(sum, start, negligible(points), 100);
      if (minimum.value < least.value) least = minimum;
    }
    return least;
  }

  Restarts<1, PowerLaw::parameters> line_;
  Restarts<1, PowerLawWithFloor::parameters> floor_;
  Restarts<1, CappedPowerLaw::parameters> capped_;
  Restarts<1, BoundedPowerLaw::parameters> bounded_;
};

inline Boundary boundary(std::optional<double> at, const std::vector<std::optional<double>>& replicates) {
  Boundary b{.found = at.has_value()};
  std::vector<double> found;
  for (const std::optional<double>& x : replicates)
    if (x) found.push_back(*x);
  const double share = static_cast<double>(found.size()) / static_cast<double>(replicates.size());
  b.confidence = b.found ? share : 1 - share;
  if (at) b.at = *at;
  if (!found.empty()) b.interval = percentile_interval(std::move(found), 0.9);
  return b;
}

}  // namespace detail

struct RegionOptions {
  std::size_t bootstraps = 200;
  std::uint64_t seed = 1;
};

// Finds the regions of a learning curve. Needs at least 6 observations, whose sizes span the regions to be
// distinguished: boundaries outside the observed range are not reported. Throws Error as fit() does.
inline Regions find_regions(const std::vector<Observation<1>>& observations, const RegionOptions& options = {}) {
  check_observations(observations, 6);
  require(options.bootstraps >= 1, "find_regions: bootstraps is 0, expected at least 1");
  const auto points = detail::of_mean_weight_one(detail::fit_points(observations));
  const detail::RegionFinder finder(points);
  const detail::CurveEnds ends = finder.find(points);
  std::vector<std::optional<double>> guessing, floors;
  std::vector<detail::FitPoint<1>> drawn;
  const RandomKey key{options.seed};
  for (std::size_t i = 0; i < options.bootstraps; ++i) {
    RandomStream random(key.fold(i));
    detail::draw_pairs(drawn, points, random);
    if (detail::different_x(drawn) < BoundedPowerLaw::parameters + 1) continue;
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
