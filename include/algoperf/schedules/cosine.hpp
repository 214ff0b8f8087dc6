#pragma once

#include "../core/require.hpp"
#include "concept.hpp"

namespace algoperf {

// Half a cosine from peak to floor: s(i) = floor + (peak - floor) (1 + cos(pi i / steps)) / 2; `floor` from i = steps
// on, so with steps = 0 everywhere. peak and floor are finite.
// Loshchilov & Hutter 2017, equation 5 (arXiv:1608.03983), without restarts. Departs from optax's cosine_decay_schedule
// in that floor is a value, where optax has a factor: floor = alpha peak. Departs from torch's CosineAnnealingLR in
// that it stays at the floor, where torch's rises again past T_max.
struct Cosine {
  double peak = 1e-3;
  double floor = 0;
  std::uint64_t steps = 0;

  void check() const {
    require(detail::is_finite(peak), "Cosine: peak is ", peak, ", expected a finite number");
    require(detail::is_finite(floor), "Cosine: floor is ", floor, ", expected a finite number");
  }

  double operator()(std::uint64_t step) const {
    if (step >= steps) return floor;
    constexpr double pi = 3.14159265358979323846;
    const double share = static_cast<double>(step) / static_cast<double>(steps);
    return floor + (peak - floor) * (0.5 * (1 + __builtin_cos(pi * share)));
  }
};

}  // namespace algoperf
