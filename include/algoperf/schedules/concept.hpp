// What schedules/ is about. A schedule is any callable `double (std::uint64_t step)`, a lambda as well as a member of
// this folder, and says what a number (a learning rate, or any hyperparameter) is in update `step`, counted from 0. It
// is pure, a closed form of the step alone, so that a run resumes without a schedule's state, and holds its last value
// past its end. A chain asks it for Step::t - 1. A schedule of batch sizes answers in whole numbers.
//
//   check()          optional: throws Error for an impossible option, naming it
//   feedback(found)  optional, of a schedule that reacts (Plateau) and so is not pure: a TrainingLoop calls it with
//                    each EvaluationReport of a run's first observer that evaluates, before the next step
//   visit(archive)   what feedback left behind, for checkpoints
#pragma once

#include <concepts>
#include <cstdint>

#include "../core/config.hpp"

namespace algoperf {

template <class S>
concept Schedule = requires(const S& schedule, std::uint64_t step) {
  { schedule(step) } -> std::convertible_to<double>;
};

namespace detail {

// Says in a sentence what a schedule is, where something that takes one is given something else.
template <class S>
consteval bool explain_schedule() {
  static_assert(Schedule<S>,
                "algoperf: a schedule is any callable `double (std::uint64_t step) const`, e.g. "
                "WarmupCosine{...} or a lambda (for a fixed number write Constant{.value = ...})");
  return true;
}

// Checks the options of a schedule that has a check().
template <class S>
void check_schedule(const S& schedule) {
  if constexpr (requires { schedule.check(); }) schedule.check();
}

// The length of a schedule that was given none, which check() refuses.
inline constexpr std::uint64_t not_given = ~std::uint64_t{0};

template <class S, class Found>
concept Reacts = requires(S& schedule, const Found& found) {
  schedule.feedback(found);
};

template <class S>
concept ObservesGradients = requires(S& schedule, double x) {
  schedule.observe(x, x, x, x);
};

template <class S, class Archive>
concept Remembers = requires(S& schedule, Archive& archive) {
  schedule.visit(archive);
};

// A plain number, neither infinite nor NaN.
constexpr bool is_finite(double x) { return x - x == 0; }

}  // namespace detail
}  // namespace algoperf
