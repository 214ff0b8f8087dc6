#pragma once

#include "../core/require.hpp"
#include "concept.hpp"

namespace algoperf {

// What a plateau is measured on.
enum class PlateauOf { loss, metric };

// By how much a value must beat the best one so far: by threshold times its size, or by the threshold itself.
enum class PlateauThreshold { relative, absolute };

// Drops when evaluations stop improving: s = max(peak factor^drops, floor), in every step from one evaluation to the
// next. An evaluation that beats the best by the threshold is good, and the new best; when more than `patience` in a
// row are bad, that is a drop. The `cooldown` evaluations after a drop count as neither. peak is finite, floor at most
// peak, factor in (0, 1), threshold in [0, inf); patience and cooldown are in evaluations.
//
// The one rate here that is not a function of the step: a TrainingLoop tells it of the evaluations of a run, those by
// its first observer that evaluates, and saves what it remembers with its checkpoints. After a warm-up:
//   join(Warmup{.peak = 0.1, .steps = 500}, 500, Plateau{.peak = 0.1, .patience = 3})
// In a loop of one's own call observe(value). In scheduled(...) nothing tells it, and it stays at its peak.
//
// torch's ReduceLROnPlateau. Departs from it in that a drop is never too small to be made (torch's eps), a relative
// threshold is of the best's size (torch's asks for less than nothing where the best is below 0), and the direction is
// the metric's own. NaN is bad.
struct Plateau {
  double peak = 1e-3;
  double floor = 0;
  double factor = 0.1;
  std::uint64_t patience = 10;
  double threshold = 1e-4;
  PlateauThreshold mode = PlateauThreshold::relative;
  std::uint64_t cooldown = 0;
  PlateauOf of = PlateauOf::loss;

  // What it remembers; left alone in `Plateau{...}`.
  struct State {
    std::uint64_t drops = 0;
    double best = __builtin_nan("");  // of no evaluation yet
    std::uint64_t bad = 0;            // in a row
    std::uint64_t cooling = 0;        // evaluations of the cooldown to come
  } state = {};

  void check() const {
    require(detail::is_finite(peak), "Plateau: peak is ", peak, ", expected a finite number");
    require(detail::is_finite(floor) && floor <= peak, "Plateau: floor is ", floor,
            ", expected a finite number of at most peak, which is ", peak);
    require(factor > 0 && factor < 1, "Plateau: factor is ", factor, ", expected (0, 1)");
    require(detail::is_finite(threshold) && threshold >= 0, "Plateau: threshold is ", threshold, ", expected [0, inf)");
  }

  double operator()(std::uint64_t) const {
    const double value = peak * __builtin_pow(factor, static_cast<double>(state.drops));
    return value > floor ? value : floor;
  }

  // What a TrainingLoop calls; found has the fields of an EvaluationReport.
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
    archive.number("best", state.best);
    archive.number("bad", state.bad);
    archive.number("cooling", state.cooling);
  }

 private:
  bool beats_best(double value, bool lower_is_better) const {
    const double best = state.best, away = lower_is_better ? -threshold : threshold;
    if (best != best) return value == value;
    const double bar = mode == PlateauThreshold::absolute ? best + away : best * (best > 0 ? 1 + away : 1 - away);
    return lower_is_better ? value < bar : value > bar;
  }
};

}  // namespace algoperf
