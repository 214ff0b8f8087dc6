// The significance of claims in a contest by steps: who reaches a loss in the fewest steps, when runs of one training
// algorithm differ by their seeds.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../core/percentile.hpp"
#include "chi_square.hpp"

namespace algoperf {

// A result of the contest: `runs` runs had the mean loss `mean` after `steps` steps.
struct Claim {
  std::string result;
  double steps = 0, mean = 0;
  std::size_t runs = 0;
};

// The logged losses of one run.
struct LossCurve {
  std::string result, run;
  std::map<double, double> losses = {};  // by step
};

struct SignificanceOptions {
  double target = 0;                  // the loss to reach; lower is better
  double threshold = 0.004;           // of both statistics: 3.09 standard deviations for one-sided tests at 0.001
  double loss_of_100_steps = 0.0045;  // how much 100 steps lower the loss near the target
  double mean_tolerance = 1e-4;       // how far a reproduced mean may be from the claimed one
  double level = 0.95;                // of the interval of the standard deviation
};

struct CheckedClaim {
  Claim claim;
  bool reproduced = false;    // the logs have the claimed number of runs, with the claimed mean at the claimed step
  bool as_it_stands = false;  // reproduced by all logged runs
  bool valid = false;         // (target - mean) sqrt(runs) >= threshold
  std::string why = {};       // which runs reproduce the claim, or what the logs have instead
};

// Result `better` beats result `worse`; both index the claims. With runs n, mean losses and steps of the two,
//   statistic = (mean_w - mean_b + loss_of_100_steps (steps_w - steps_b) / 100) / sqrt(1 / n_w + 1 / n_b).
struct BetterPair {
  std::size_t better = 0, worse = 0;
  double statistic = 0;
};

struct Significance {
  std::vector<CheckedClaim> claims;
  // The standard deviation between runs of one result, pooled over the results that are reproduced as they stand, and
  // its interval from the chi-square distribution. NaN if no result has two runs.
  double deviation = NAN;
  Interval deviation_interval = {NAN, NAN};
  std::size_t freedom = 0;
  std::vector<BetterPair> pairs;  // the pairs whose statistic is at least the threshold
};

namespace detail {

struct LossSample {
  std::size_t count = 0;
  double mean = 0, squares = 0;  // the sum of squared differences from the mean
  void add(double loss) {
    const double before = loss - mean;
    mean += before / static_cast<double>(++count);
    squares += before * (loss - mean);
  }
};

inline bool agrees(const LossSample& sample, const Claim& claim, const SignificanceOptions& options) {
  return sample.count == claim.runs && std::fabs(sample.mean - claim.mean) <= options.mean_tolerance * (1 + 1e-6);
}

inline std::string describe(const LossSample& sample) {
  return text(sample.count) + (sample.count == 1 ? " run" : " runs");
}

// Checks a claim against the logged runs of its result, and adds those that reproduce it as it stands to `pooled`.
inline CheckedClaim check_claim(const Claim& claim, const std::vector<const LossCurve*>& curves,
                                const SignificanceOptions& options, LossSample& pooled, std::size_t& freedom) {
  CheckedClaim checked{claim};
  checked.valid =
      (options.target - claim.mean) * std::sqrt(static_cast<double>(claim.runs)) >= options.threshold * (1 - 1e-9);
  LossSample all, distinct;
  std::map<double, LossSample> by_end;  // of distinct runs, by their last step
  std::set<std::map<double, double>> seen;
  for (const LossCurve* const curve : curves) {
    const auto at = curve->losses.find(claim.steps);
    if (at == curve->losses.end()) continue;
    all.add(at->second);
    if (!seen.insert(curve->losses).second) continue;
    distinct.add(at->second);
    by_end[curve->losses.rbegin()->first].add(at->second);
  }
  checked.as_it_stands = checked.reproduced = agrees(all, claim, options) && all.count == curves.size();
  if (checked.as_it_stands) {
    if (all.count > 1) pooled.squares += all.squares, freedom += all.count - 1;
    return checked;
  }
  if (agrees(distinct, claim, options)) {
    checked.reproduced = true;
    checked.why = "by the " + text(distinct.count) + " different runs with a loss at step " + text(claim.steps) +
                  ", of " + text(curves.size()) + " logged";
    return checked;
  }
  for (const auto& [end, sample] : by_end)
    if (agrees(sample, claim, options)) {
      checked.reproduced = true;
      checked.why = "by the " + text(sample.count) + " runs that end at step " + text(end) + ", of " +
                    text(curves.size()) + " logged";
      return checked;
    }
  char means[80];
  std::snprintf(means, sizeof means, "their mean loss is %.6f, the claim says %.6g", distinct.mean, claim.mean);
  checked.why = distinct.count == 0
                    ? "no logged run has a loss at step " + text(claim.steps)
                    : describe(distinct) + " with a loss at step " + text(claim.steps) +
                          (distinct.count == claim.runs ? "" : ", the claim says " + text(claim.runs)) + "; " + means;
  return checked;
}

}  // namespace detail

// Checks claims against logged runs, and compares each pair of results by the claimed values. A claim is reproduced if
// one of three sets of runs has the claimed size and, at the claimed step, a mean loss within the tolerance: all logged
// runs, if each has a loss at that step; the distinct runs that have a loss at that step; or those distinct runs that
// also end at one common step. Throws Error if an option is out of range or a result is claimed twice.
// Source: the rules of the contest "track 3" of the modded-nanogpt repository; z tests with a known deviation.
inline Significance check_claims(const std::vector<Claim>& claims, const std::vector<LossCurve>& curves,
                                 const SignificanceOptions& options) {
  require(std::isfinite(options.target), "check_claims: target is ", options.target, ", expected a finite number");
  require(options.threshold > 0 && options.threshold < INFINITY, "check_claims: threshold is ", options.threshold,
          ", expected a positive, finite number");
  std::map<std::string, std::vector<const LossCurve*>> of;
  for (const LossCurve& curve : curves) of[curve.result].push_back(&curve);
  std::set<std::string> names;
  Significance found;
  detail::LossSample pooled;
  for (const Claim& claim : claims) {
    require(names.insert(claim.result).second, "check_claims: result '", claim.result, "' is claimed twice");
    found.claims.push_back(detail::check_claim(claim, of[claim.result], options, pooled, found.freedom));
  }
  if (found.freedom > 0) {
    found.deviation = std::sqrt(pooled.squares / static_cast<double>(found.freedom));
    found.deviation_interval = {
        std::sqrt(pooled.squares / chi_square_quantile((1 - options.level) / 2, found.freedom)),
        std::sqrt(pooled.squares / chi_square_quantile((1 + options.level) / 2, found.freedom))};
  }
  for (std::size_t b = 0; b < claims.size(); ++b)
    for (std::size_t w = 0; w < claims.size(); ++w) {
      const double gain =
          claims[w].mean - claims[b].mean + options.loss_of_100_steps * (claims[w].steps - claims[b].steps) / 100;
      const double statistic =
          gain / std::sqrt(1 / static_cast<double>(claims[w].runs) + 1 / static_cast<double>(claims[b].runs));
      if (statistic >= options.threshold * (1 - 1e-9)) found.pairs.push_back({b, w, statistic});
    }
  return found;
}

}  // namespace algoperf
