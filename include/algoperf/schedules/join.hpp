// join(first, steps, second, steps, ..., last): schedules in sequence. Each except the last runs for the number of
// steps given after it, and each counts its steps from 0:
//   join(Warmup{.peak = 1e-3, .steps = 100}, 100, Constant{1e-3}, 800, Linear{.from = 1e-3, .to = 0, .steps = 100})
#pragma once

#include <type_traits>

#include "../core/require.hpp"
#include "concept.hpp"

namespace algoperf {

// s(i) = first(i) for i < steps, then second(i - steps); steps = 0 is second alone. optax's join_schedules takes
// boundaries counted from the first step, not lengths. A schedule that reacts receives only the evaluations
// after its own steps.
template <class First, class Second>
struct Joined {
  First first;
  std::uint64_t steps = 0;
  Second second;

  void check() const {
    require(steps >> 63 == 0, "join: a schedule has a negative number of steps, expected at least 0");
    detail::check_schedule(first);
    detail::check_schedule(second);
  }

  constexpr double operator()(std::uint64_t step) const {
    return step < steps ? static_cast<double>(first(step)) : static_cast<double>(second(step - steps));
  }

  // Passes an evaluation to the schedule of the last completed step; found.step counts completed steps.
  template <class Found>
  requires(detail::Reacts<First, Found> || detail::Reacts<Second, Found>) void feedback(const Found& found) {
    if (found.step <= steps) {
      if constexpr (detail::Reacts<First, Found>) first.feedback(found);
    } else if constexpr (detail::Reacts<Second, Found>) {
      Found own = found;
      own.step -= steps;
      second.feedback(own);
    }
  }

  // Passes measurements of gradients (for NoiseScaleBatch) to each schedule that observes them.
  static constexpr bool observes_spread = detail::ObservesSpread<First> || detail::ObservesSpread<Second>;
  void observe(const GradientSquares& squares) requires(detail::ObservesGradients<First> ||
                                                        detail::ObservesGradients<Second>) {
    if constexpr (detail::ObservesGradients<First>) first.observe(squares);
    if constexpr (detail::ObservesGradients<Second>) second.observe(squares);
  }

  // visit_scoped comes from state/archive.hpp, which every user of an archive includes.
  template <class Archive>
  requires(detail::Remembers<First, Archive> || detail::Remembers<Second, Archive>) void visit(Archive& archive) {
    if constexpr (detail::Remembers<First, Archive>) visit_scoped(archive, "first", first);
    if constexpr (detail::Remembers<Second, Archive>) visit_scoped(archive, "second", second);
  }
};

namespace detail {

template <class Last>
constexpr auto make_joined(const Last& last) {
  if constexpr (explain_schedule<Last>()) return last;
}

template <class First, class Steps, class... Rest>
constexpr auto make_joined(const First& first, const Steps& steps, const Rest&... rest) {
  static_assert(std::integral<Steps>,
                "algoperf: join(first, steps, second, ...) takes a whole number of steps after each schedule");
  if constexpr (explain_schedule<First>()) {
    const auto second = make_joined(rest...);
    return Joined<First, std::remove_const_t<decltype(second)>>{first, static_cast<std::uint64_t>(steps), second};
  }
}

}  // namespace detail

template <class... SchedulesAndSteps>
constexpr auto join(SchedulesAndSteps... schedules_and_steps) {
  constexpr bool ends_in_schedule = sizeof...(SchedulesAndSteps) % 2 == 1;
  static_assert(ends_in_schedule,
                "algoperf: join takes `first, steps, second, steps, ..., last`: schedules with a "
                "whole number of steps between them");
  if constexpr (ends_in_schedule) return detail::make_joined(schedules_and_steps...);
}

}  // namespace algoperf
