#pragma once

#include <optional>

#include "../core/require.hpp"
#include "concept.hpp"

namespace algoperf {

// The evaluated quantity that a plateau monitors.
enum class PlateauOf { loss, metric };

// By how much a value must improve on the best one so far: by threshold times the magnitude of the best, or by
// threshold.
enum class PlateauThreshold { relative, absolute };

// Drops when evaluations stop improving: s = max(peak factor^drops, floor), constant from one evaluation to the next.
// An evaluation that improves on the best by the threshold is good and becomes the new best; all others are bad. More
// than `patience` bad evaluations in a row cause a drop. The `cooldown` evaluations after a drop do not count as bad.
// peak is finite, floor at most peak, factor in (0, 1), threshold in [0, inf); patience and cooldown count evaluations.
//
// This is the only learning-rate schedule here that is not a function of the step. A TrainingLoop passes it the
// evaluations of the run's first observer that evaluates, and saves its state in checkpoints. After a warm-up:
//   join(Warmup{.peak = 0.1, .steps = 500}, 500, Plateau{.peak = 0.1, .patience = 3})
// In a training loop of your own, call observe(value). scheduled(...) does not accept a Plateau, because it receives no
// evaluations there.
//
// Source: torch's ReduceLROnPlateau. Departures: every drop is applied, however small (torch ignores drops of at most
// eps); a relative threshold is relative to the magnitude of the best (torch's accepts a deterioration if the best is
// below 0); and whether lower or higher is better depends on the metric, not on an option. NaN is bad.
struct Plateau {
  double peak = 1e-3;
  double floor = 0;
  double factor = 0.1;
  std::uint64_t patience = 10;
  double threshold = 1e-4;
  PlateauThreshold mode = PlateauThreshold::relative;
  std::uint64_t cooldown = 0;
  PlateauOf of = PlateauOf::loss;

  // The internal state; leave it out of `Plateau{...}`.
  struct State {
    std::uint64_t drops = 0;
    std::optional<double> best = {};  // empty: no evaluation yet
    std::uint64_t bad = 0;            // bad evaluations in a row
    std::uint64_t cooling = 0;        // remaining evaluations of the cooldown
  } state = {};

  void check() const {
    require(detail::is_finite(peak), "Plateau: peak is ", peak, ", expected a finite number");
    require(detail::is_finite(floor) && floor <= peak, "Plateau: floor is ", floor,
            ", expected a finite number of at most peak, which is ", peak);
    require(factor > 0 && factor < 1, "Plateau: factor is ", factor, ", expected (0, 1)");
    require(detail::is_finite(threshold) && threshold >= 0, "Plateau: threshold is ", threshold, ", expected [0, inf)");
  }

  // Visits the options, but not the state (core/options.hpp).
  template <class F>
  void visit_options(F& f) const {
    f(peak), f(floor), f(factor), f(static_cast<double>(patience)), f(threshold), f(mode == PlateauThreshold::absolute);
    f(static_cast<double>(cooldown)), f(of == PlateauOf::metric);
  }

  double operator()(std::uint64_t) const {
    const double value = peak * __builtin_pow(factor, static_cast<double>(state.drops));
    return value > floor ? value : floor;
  }

  // Called by a TrainingLoop; `found` has the fields of an EvaluationReport.
  template <class Found>
  void feedback(const Found& found) {
    if (of == PlateauOf::loss)
      observe(found.loss);
    else
      observe(found.metric, found.lower_is_better);
  }

  void observe(double value, bool lower_is_better = true) {
    const bool good = beats_best(value, lower_is_better);
    if (good) state.best = value;
    state.bad = good ? 0 : state.bad + 1;
    if (state.cooling > 0) {
      --state.cooling;
      state.bad = 0;
    }
    if (state.bad <= patience) return;
    ++state.drops;
    state.cooling = cooldown;
    state.bad = 0;
  }

  template <class Archive>
  void visit(Archive& archive) {
    archive.number("drops", state.drops);
    double best = state.best.value_or(__builtin_nan(""));  // in files NaN: no evaluation yet
    archive.number("best", best);
    state.best = best == best ? std::optional(best) : std::nullopt;
    archive.number("bad", state.bad);
    archive.number("cooling", state.cooling);
  }

 private:
  bool beats_best(double value, bool lower_is_better) const {
    if (!state.best) return value == value;
    const double best = *state.best, away = lower_is_better ? -threshold : threshold;
    const double bar = mode == PlateauThreshold::absolute ? best + away : best * (best > 0 ? 1 + away : 1 - away);
    return lower_is_better ? value < bar : value > bar;
  }
};

}  // namespace algoperf
