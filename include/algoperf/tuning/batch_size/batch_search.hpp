// BatchSearch: the search of hyperparameters at one batch size: which points to try next, and what they have shown.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../../core/random.hpp"
#include "../trial.hpp"
#include "../widen.hpp"
#include "batch_scaling.hpp"
#include "batch_size_scaling_options.hpp"

namespace algoperf::detail {

// Consists of rounds. The first searches the whole space; another one searches a strip beyond an edge, if the best
// point lies there. A round tries the points of a sequence in order until enough trials are complete, or all have been
// tried. Points are numbered through all rounds, points_per_round() to a round.
class BatchSearch {
 public:
  BatchSearch(const BatchSizeScalingOptions& options, std::size_t batch, Target target, std::uint64_t seed,
              const SearchSpace& space, std::vector<Hyperparameter> widest)
      : options_(options), target_(target), seed_(seed), widest_(std::move(widest)), study_{.batch = batch} {
    add_round(space, options.trials, {});
  }

  std::size_t batch() const { return study_.batch; }
  std::size_t points_per_round() const { return 2 * options_.trials; }
  // Returns the number of points that all rounds may have.
  std::size_t size() const { return (options_.widenings + 1) * points_per_round(); }
  // Returns whether a round has this point.
  bool has(std::size_t point) const {
    return point / points_per_round() < rounds_.size() &&
           point % points_per_round() < rounds_[point / points_per_round()].points.size();
  }
  const HyperPoint& point(std::size_t number) const {
    return rounds_[number / points_per_round()].points[number % points_per_round()];
  }
  std::uint64_t seed_of(std::size_t point) const { return RandomKey{seed_}.fold(point).value; }

  // Returns the points that can be tried now; none when the search has ended. `result(point)` returns a pointer to the
  // result of a point, or nullptr.
  template <class Result>
  std::vector<std::size_t> missing(const Result& result) {
    while (true) {
      std::vector<std::size_t> found;
      const std::size_t first = (rounds_.size() - 1) * points_per_round();
      std::size_t counted = 0;  // complete trials, and those that will be, for all that is known
      for (std::size_t i = 0; i < rounds_.back().points.size() && counted < rounds_.back().wanted; ++i) {
        const TrialResult* const known = result(first + i);
        if (known == nullptr) found.push_back(first + i);
        counted += known == nullptr || known->failure.empty();
      }
      collect(result);
      if (!found.empty() || !widen()) return found;
    }
  }

  // The trials that have ended, when missing() was last called.
  const BatchStudy& study() const { return study_; }
  const std::vector<std::string>& failures() const { return failures_; }
  std::vector<Widening> widenings() const {
    std::vector<Widening> found;
    const std::optional<BatchResult> best = best_so_far();
    for (const Round& round : rounds_)
      if (round.widening) {
        found.push_back(*round.widening);
        if (!best) continue;
        // Whether it is in the strip, or beyond it.
        const double value = best->point[found.back().hyperparameter];
        found.back().moved =
            found.back().from >= found.back().best ? value >= found.back().from : value <= found.back().to;
      }
    return found;
  }

 private:
  struct Round {
    SearchSpace space;
    std::size_t wanted;  // complete trials
    std::vector<HyperPoint> points;
    std::optional<Widening> widening;
  };

  void add_round(const SearchSpace& space, std::size_t wanted, const std::optional<Widening>& widening) {
    const std::uint64_t seed = RandomKey{seed_}.fold(rounds_.size()).value;
    rounds_.push_back({space, wanted, search_points(space, 2 * wanted, seed, options_.search), widening});
  }

  template <class Result>
  void collect(const Result& result) {
    study_.trials.clear();
    failures_.clear();
    for (std::size_t i = 0; i < size(); ++i) {
      const TrialResult* const known = has(i) ? result(i) : nullptr;
      if (known == nullptr) continue;
      const bool threw = !known->failure.empty() && known->total_seconds == 0;  // a trial that diverged has a clock
      BatchTrial trial{.id = i, .point = point(i)};
      trial.status = known->failure.empty() ? TrialStatus::complete
                     : threw                ? TrialStatus::incomplete
                                            : TrialStatus::infeasible;
      for (const TrialEvaluation& e : known->evaluations) trial.measurements.push_back({e.step, e.metric, e.examples});
      study_.trials.push_back(std::move(trial));
      if (threw) failures_.push_back("batch size " + std::to_string(batch()) + ": " + known->failure);
    }
  }

  // Returns the trial with the fewest steps to the target, or else the best metric.
  std::optional<BatchResult> best_so_far() const {
    return reached_or_best(study_, {target_.value, target_.lower_is_better, true});
  }
  // Returns the ranges that the rounds cover.
  SearchSpace searched() const {
    std::vector<Hyperparameter> ranges = rounds_.front().space.hyperparameters();
    for (const Round& round : rounds_)
      for (std::size_t i = 0; i < ranges.size(); ++i) {
        const Hyperparameter& one = round.space.hyperparameters()[i];
        ranges[i].min = std::fmin(ranges[i].min, one.min), ranges[i].max = std::fmax(ranges[i].max, one.max);
      }
    return SearchSpace(std::move(ranges));
  }
  // Adds a round beyond an edge, if there is reason to.
  bool widen() {
    const std::optional<BatchResult> best = best_so_far();
    if (!best || rounds_.size() > options_.widenings) return false;
    const SearchSpace whole = searched();
    for (const SpaceEdge& edge : edges_at(whole, best->point, options_.edge)) {
      const Hyperparameter& range = whole.hyperparameters()[edge.hyperparameter];
      const std::optional<Hyperparameter> strip = strip_beyond(range, edge.upper, 0.5, widest_);
      if (!strip) continue;
      add_round(with_range(whole, edge.hyperparameter, *strip), (options_.trials + 1) / 2,
                Widening{batch(), range.name, best->point[range.name], strip->min, strip->max});
      return true;
    }
    return false;
  }

  BatchSizeScalingOptions options_;
  Target target_;
  std::uint64_t seed_;
  std::vector<Hyperparameter> widest_;
  std::vector<Round> rounds_;
  BatchStudy study_;
  std::vector<std::string> failures_;
};

}  // namespace algoperf::detail
