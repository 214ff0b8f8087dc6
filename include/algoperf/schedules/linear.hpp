#pragma once

#include "../core/require.hpp"
#include "concept.hpp"

namespace algoperf {

// Linear interpolation: s(i) = from + (to - from) (i - begin) / steps; `from` up to `begin`, `to` from begin + steps
// on. from and to are finite. As optax's linear_schedule, except that with steps = 0 it is `to` from `begin` on (optax
// stays at `from`). torch's LinearLR(start_factor, total_iters) is {.from = start_factor lr, .to = lr, .steps =
// total_iters}.
struct Linear {
  double from = 0;
  double to = 0;
  std::uint64_t steps = detail::not_given;
  std::uint64_t begin = 0;

  void check() const {
    require(detail::is_finite(from), "Linear: from is ", from, ", expected a finite number");
    require(detail::is_finite(to), "Linear: to is ", to, ", expected a finite number");
    require(steps != detail::not_given, "Linear: steps is not given");
  }

  constexpr double operator()(std::uint64_t step) const {
    if (step < begin) return from;
    const std::uint64_t i = step - begin;
    if (i >= steps) return to;
    return from + (to - from) * (static_cast<double>(i) / static_cast<double>(steps));
  }
};

}  // namespace algoperf
