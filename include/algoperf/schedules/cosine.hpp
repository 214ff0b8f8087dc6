#pragma once

#include "../core/require.hpp"
#include "concept.hpp"

namespace algoperf {

// A cosine from peak to floor: s(i) = floor + (peak - floor) (1 + cos(2 pi cycles i / steps)) / 2. From i = steps on
// (with steps = 0, at every step) it holds its final value: the floor if cycles = 1/2, the usual half wave; the peak if
// cycles is a whole number. peak and floor are finite, cycles is in [0, inf).
// Loshchilov & Hutter 2017, equation 5 (arXiv:1608.03983), without restarts (see WarmRestarts). Departures from optax's
// cosine_decay_schedule: floor is a value, not a factor (floor = alpha peak), and there is no exponent. Departure from
// torch's CosineAnnealingLR and Hugging Face's cosine (num_cycles = cycles): it holds its last value, whereas theirs
// continues along the wave.
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
