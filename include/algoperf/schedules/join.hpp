// join(first, steps, second, steps, ..., last): schedules one after the other, each but the last for so many steps and
// each counting from 0:
//   join(Warmup{.peak = 1e-3, .steps = 100}, 100, Constant{1e-3}, 800, Linear{.from = 1e-3, .to = 0, .steps = 100})
#pragma once

#include <type_traits>

#include "../core/require.hpp"
#include "concept.hpp"

namespace algoperf {

// s(i) = first(i) for i < steps, then second(i - steps); steps = 0 is second alone. optax's join_schedules, which takes
// the boundaries counted from the start of all, not the lengths.
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

  constexpr double operator()(std::uint64_t step) const { return step < steps ? first(step) : second(step - steps); }
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
