#pragma once

#include "../core/require.hpp"
#include "concept.hpp"
#include "few.hpp"

namespace algoperf {

// A drop at each milestone: s(i) = from factor^(milestones at or before i), so the drop of milestone m applies in step
// m itself. A milestone given twice counts twice; order does not matter; milestone 0 drops from the beginning. from is
// finite, factor is in [0, inf), there are at most 16 milestones.
// Equals torch's MultiStepLR(milestones, gamma = factor). For a different factor at each milestone, see
// PiecewiseConstant.
struct MultiStep {
  double from = 1e-3;
  Few<std::uint64_t> milestones = {};
  double factor = 0.1;

  void check() const {
    require(detail::is_finite(from), "MultiStep: from is ", from, ", expected a finite number");
    require(detail::is_finite(factor) && factor >= 0, "MultiStep: factor is ", factor, ", expected [0, inf)");
    require(milestones.size <= milestones.capacity, "MultiStep: there are ", milestones.size,
            " milestones, expected at most ", milestones.capacity);
  }

  constexpr double operator()(std::uint64_t step) const {
    double value = from;
    for (const std::uint64_t milestone : milestones)
      if (step >= milestone) value *= factor;
    return value;
  }
};

}  // namespace algoperf
