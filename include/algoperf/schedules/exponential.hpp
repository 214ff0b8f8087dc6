#pragma once

#include "../core/require.hpp"
#include "concept.hpp"

namespace algoperf {

enum class ExponentialShape {
  smooth,     // a small change at every step
  staircase,  // the whole factor every `steps` steps
};

// Exponential decay: s(i) = from factor^((i - begin) / steps), with the exponent rounded down in a staircase; `from` up
// to `begin`. The value never passes `to`, which is a floor if the factor is at most 1, and a ceiling if it is above 1,
// in which case `to` is required. from and factor are in (0, inf), to in [0, from] or [from, inf); steps is at least 1.
// Equals optax's exponential_decay(from, steps, factor, begin, staircase, end_value = to). torch's
// ExponentialLR(gamma) is {.from = lr, .factor = gamma}. Use factor > 1 for a learning-rate range test.
struct Exponential {
  double from = 1e-3;
  double factor = 0.9;
  std::uint64_t steps = 1;
  std::uint64_t begin = 0;
  double to = 0;
  ExponentialShape shape = ExponentialShape::smooth;

  void check() const {
    require(detail::is_finite(from) && from > 0, "Exponential: from is ", from, ", expected (0, inf)");
    require(detail::is_finite(factor) && factor > 0, "Exponential: factor is ", factor, ", expected (0, inf)");
    require(steps >= 1, "Exponential: steps is 0, expected at least 1");
    require(factor > 1 || (to >= 0 && to <= from), "Exponential: to is ", to, ", expected [0, from], and from is ",
            from);
    require(factor <= 1 || (detail::is_finite(to) && to >= from), "Exponential: to is ", to,
            ", expected a finite number of at least from, which is ", from, ", since the factor is above 1");
  }

  double operator()(std::uint64_t step) const {
    if (step <= begin) return from;
    const std::uint64_t i = step - begin;
    const double power = shape == ExponentialShape::staircase ? static_cast<double>(i / steps)
                                                              : static_cast<double>(i) / static_cast<double>(steps);
    const double value = from * __builtin_pow(factor, power);
    return factor > 1 ? (value < to ? value : to) : (value > to ? value : to);
  }
};

}  // namespace algoperf
