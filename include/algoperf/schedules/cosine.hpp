#pragma once

#include "../core/require.hpp"
#include "concept.hpp"

namespace algoperf {

// A cosine from peak to floor: s(i) = floor + (peak - floor) (1 + cos(2 pi cycles i / steps)) / 2; its value at
// i = steps from there on, so with steps = 0 everywhere. With cycles = 1/2, the half wave that is usual, that value is
// the floor; with whole cycles it is the peak. peak and floor are finite, cycles is in [0, inf).
// Loshchilov & Hutter 2017, equation 5 (arXiv:1608.03983), without restarts, for which see WarmRestarts. Departs from
// optax's cosine_decay_schedule in that floor is a value, where optax has a factor: floor = alpha peak; and has no
// exponent. Departs from torch's CosineAnnealingLR and Hugging Face's cosine (num_cycles = cycles) in that it stays
// where it ends, where theirs goes on along the wave.
struct Cosine {
  double peak = 1e-3;
  double floor = 0;
  std::uint64_t steps = detail::not_given;
  double cycles = 0.5;

  void check() const {
    require(detail::is_finite(peak), "Cosine: peak is ", peak, ", expected a finite number");
    require(detail::is_finite(floor), "Cosine: floor is ", floor, ", expected a finite number");
    require(detail::is_finite(cycles) && cycles >= 0, "Cosine: cycles is ", cycles, ", expected [0, inf)");
    require(steps != detail::not_given, "Cosine: steps is not given");
  }

  double operator()(std::uint64_t step) const {
    constexpr double pi = 3.14159265358979323846;
    const double share = step < steps ? static_cast<double>(step) / static_cast<double>(steps) : 1;
    return floor + (peak - floor) * (0.5 * (1 + __builtin_cos(pi * (2 * cycles * share))));
  }
};

}  // namespace algoperf
