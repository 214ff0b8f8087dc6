#pragma once

#include "../core/require.hpp"
#include "concept.hpp"
#include "few.hpp"

namespace algoperf {

// Multiplies the value by `factor` from `step` on.
struct Drop {
  std::uint64_t step = 0;
  double factor = 1;
};

// Constant between drops: s(i) = from times the factors of all drops with drop.step <= i:
//   PiecewiseConstant{.from = 0.1, .drops = {{30000, 0.1}, {60000, 0.5}}}: 0.1, then 0.01, then 0.005
// Two drops in the same step both apply. from is finite, factors are in [0, inf), there are at most 16 drops.
// Equals optax's piecewise_constant_schedule(init_value, boundaries_and_scales). To give values instead of factors,
// join Constants.
struct PiecewiseConstant {
  double from = 1e-3;
  Few<Drop> drops = {};

  void check() const {
    require(detail::is_finite(from), "PiecewiseConstant: from is ", from, ", expected a finite number");
    require(drops.size <= drops.capacity, "PiecewiseConstant: there are ", drops.size, " drops, expected at most ",
            drops.capacity);
    for (const Drop& drop : drops)
      require(detail::is_finite(drop.factor) && drop.factor >= 0, "PiecewiseConstant: the factor at step ", drop.step,
              " is ", drop.factor, ", expected [0, inf)");
  }

  constexpr double operator()(std::uint64_t step) const {
    double value = from;
    for (const Drop& drop : drops)
      if (step >= drop.step) value *= drop.factor;
    return value;
  }
};

}  // namespace algoperf
