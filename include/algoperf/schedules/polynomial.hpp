#pragma once

#include "../core/require.hpp"
#include "concept.hpp"

namespace algoperf {

// Polynomial decay: s(i) = to + (from - to) (1 - (i - begin) / steps)^power; `from` up to `begin`, `to` from
// begin + steps on. power = 1 is Linear. from and to are finite, power is in (0, inf).
// As optax's polynomial_schedule, except that with steps = 0 it is `to` from `begin` on (optax stays at `from`).
// torch's PolynomialLR(total_iters, power) is {.from = lr, .to = 0, .power = power, .steps = total_iters}.
struct Polynomial {
  double from = 1e-3;
  double to = 0;
  double power = 2;
  std::uint64_t steps = detail::not_given;
  std::uint64_t begin = 0;

  void check() const {
    require(detail::is_finite(from), "Polynomial: from is ", from, ", expected a finite number");
    require(detail::is_finite(to), "Polynomial: to is ", to, ", expected a finite number");
    require(detail::is_finite(power) && power > 0, "Polynomial: power is ", power, ", expected (0, inf)");
    require(steps != detail::not_given, "Polynomial: steps is not given");
  }

  double operator()(std::uint64_t step) const {
    if (step < begin) return from;
    const std::uint64_t i = step - begin;
    if (i >= steps) return to;
    const double left = 1 - static_cast<double>(i) / static_cast<double>(steps);
    return to + (from - to) * __builtin_pow(left, power);
  }
};

}  // namespace algoperf
