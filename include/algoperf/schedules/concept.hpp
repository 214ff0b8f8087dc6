// The Schedule concept. A schedule is any callable `double (std::uint64_t step)`, such as a lambda or a type of this
// folder. It returns the value of a hyperparameter (usually the learning rate) in update `step`, counted from 0. It is
// pure, a closed form of the step, so that a run resumes without the schedule's state; and it holds its last value past
// its end. A chain calls it with Step::t - 1. A schedule of batch sizes returns integers.
//
//   check()          optional: throws Error for an invalid option, naming it
//   feedback(found)  optional, for a schedule that reacts to evaluations (Plateau) and so is not pure: a TrainingLoop
//                    calls it before the next step with each EvaluationReport of the run's first observer that
//                    evaluates
//   observe(squares) optional, for a schedule of batch sizes that reacts to gradients: receives the GradientSquares
//                    that the combiner measured, after each step; with their spread if observes_spread = true
//   visit(archive)   optional: the state that feedback or observe changes, for checkpoints
#pragma once

#include <concepts>
#include <cstdint>

#include "../core/config.hpp"
#include "../core/gradient_squares.hpp"

namespace algoperf {

template <class S>
concept Schedule = requires(const S& schedule, std::uint64_t step) {
  { schedule(step) } -> std::convertible_to<double>;
};

namespace detail {

// Produces a readable compiler error if a type that should be a schedule is not one.
template <class S>
consteval bool explain_schedule() {
  static_assert(Schedule<S>,
                "algoperf: a schedule is any callable `double (std::uint64_t step) const`, e.g. "
                "WarmupCosine{...} or a lambda (for a fixed number write Constant{.value = ...})");
  return true;
}

// Calls check() on a schedule that has one.
template <class S>
void check_schedule(const S& schedule) {
  if constexpr (requires { schedule.check(); }) schedule.check();
}

// The default length of a schedule that requires one; check() rejects it.
inline constexpr std::uint64_t not_given = ~std::uint64_t{0};

template <class S, class Found>
concept Reacts = requires(S& schedule, const Found& found) {
  schedule.feedback(found);
};

template <class S>
concept ObservesGradients = requires(S& schedule, const GradientSquares& squares) {
  schedule.observe(squares);
};
template <class S>
concept ObservesSpread = ObservesGradients<S> && requires {
  requires S::observes_spread;
};

template <class S, class Archive>
concept Remembers = requires(S& schedule, Archive& archive) {
  schedule.visit(archive);
};

// Whether x is neither infinite nor NaN.
constexpr bool is_finite(double x) { return x - x == 0; }

}  // namespace detail
}  // namespace algoperf
