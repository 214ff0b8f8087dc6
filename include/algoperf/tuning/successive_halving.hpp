// successive_halving: a search that gives most of its budget to its best points. Requires nlohmann-json; POSIX only.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tune.hpp"

namespace algoperf {

struct HalvingOptions {
  std::size_t trials = 27;   // of the first round
  std::size_t keep_one = 3;  // each round keeps one in `keep_one` trials and multiplies their budget by `keep_one`
  std::size_t rounds = 3;
  std::uint64_t seed = 0;
  Search search = Search::halton;
  std::size_t jobs = 1;
  bool lower_is_better = true;
  std::string journal = {};  // JOURNAL.1, JOURNAL.2, ... keep the rounds; empty: none

  void check() const {
    require(keep_one >= 2, "HalvingOptions: keep_one is ", keep_one, ", expected at least 2");
    require(rounds >= 1, "HalvingOptions: rounds is 0, expected at least 1");
    std::size_t left = trials;
    for (std::size_t r = 1; r < rounds; ++r) left /= keep_one;
    require(left >= 1, "HalvingOptions: ", trials, " trials are not enough for ", rounds, " rounds that keep one of ",
            keep_one);
  }
};

struct Halving {
  std::vector<Tuning> rounds;
  // Returns the best trial of the last round. Throws Error if every trial of it failed.
  const TunedTrial& best() const { return rounds.back().best(); }
};

// Searches in rounds. The first tries all points with a small part of the budget; each further round tries the best 1 /
// keep_one of them with keep_one times as much. The last round uses the whole budget. function(point, part) trains from
// the start with this part of the budget, in (0, 1], and returns a number:
//   successive_halving(space, {.trials = 27, .jobs = 2}, [&](const HyperPoint& point, double part) { ... });
// Trials that fail are worse than all others. Throws Error if an option is out of range, if every trial of a round
// fails, and as tune() does. Source: Jamieson and Talwalkar 2016, "Non-stochastic Best Arm Identification and
// Hyperparameter Optimization", figure 3. The paper resumes trials; this function restarts them.
template <class Function>
Halving successive_halving(const SearchSpace& space, const HalvingOptions& options, const Function& function) {
  options.check();
  Halving found;
  std::vector<HyperPoint> points = search_points(space, options.trials, options.seed, options.search);
  for (std::size_t r = 1;; ++r) {
    const double part = std::pow(static_cast<double>(options.keep_one), -static_cast<double>(options.rounds - r));
    const TuneOptions tuning{.trials = points.size(),
                             .seed = options.seed,
                             .jobs = options.jobs,
                             .lower_is_better = options.lower_is_better,
                             .journal = options.journal.empty() ? "" : options.journal + "." + std::to_string(r),
                             .function = "part " + detail::text(part)};
    found.rounds.push_back(
        tune(SearchSpace(points), tuning, [&](const HyperPoint& point) { return function(point, part); }));
    std::vector<TunedTrial> trials = found.rounds.back().trials;
    (void)found.best();  // throws if every trial failed
    if (r == options.rounds) return found;
    std::stable_sort(trials.begin(), trials.end(), [&](const TunedTrial& a, const TunedTrial& b) {
      return better(a.value, b.value, options.lower_is_better);
    });
    points.clear();
    for (std::size_t i = 0; i < trials.size() / options.keep_one; ++i) points.push_back(trials[i].point);
  }
}

}  // namespace algoperf
