#pragma once

#include "../core/require.hpp"
#include "concept.hpp"
#include "cosine.hpp"

namespace algoperf {

// Repeated half cosines: cycle j = 0, 1, ... is Cosine from floor + (peak - floor) peak_factor^j to floor over
// first multiplier^j steps. After `cycles` cycles, the value is the floor (a cycle ends one step before its cosine
// reaches it); by default it restarts forever. With first = 0, every step has the value `floor`. peak and floor are
// finite, multiplier is at least 1, peak_factor is in [0, 1].
// Loshchilov & Hutter 2017, equation 5 (arXiv:1608.03983): first and multiplier are their T_0 and T_mult. torch's
// CosineAnnealingWarmRestarts(T_0, T_mult, eta_min) has no end and no peak_factor. Keras's CosineDecayRestarts has both
// multipliers (t_mul, which may be a fraction there, and m_mul). Hugging Face's hard restarts (num_cycles = c) are
// {.first = steps / c, .cycles = c} if c divides steps.
struct WarmRestarts {
  static constexpr std::uint64_t endless = ~std::uint64_t{0};

  double peak = 1e-3;
  double floor = 0;
  std::uint64_t first = 1000;
  std::uint64_t multiplier = 1;
  double peak_factor = 1;
  std::uint64_t cycles = endless;

  void check() const {
    require(detail::is_finite(peak), "WarmRestarts: peak is ", peak, ", expected a finite number");
    require(detail::is_finite(floor), "WarmRestarts: floor is ", floor, ", expected a finite number");
    require(multiplier >= 1, "WarmRestarts: multiplier is 0, expected at least 1");
    require(peak_factor >= 0 && peak_factor <= 1, "WarmRestarts: peak_factor is ", peak_factor, ", expected [0, 1]");
  }

  double operator()(std::uint64_t step) const {
    if (first == 0) return floor;
    std::uint64_t cycle = 0, length = first;
    if (multiplier <= 1) {
      cycle = step / first;
      step %= first;
    } else {  // at most 64 iterations
      for (; step >= length; ++cycle) {
        step -= length;
        length = length > endless / multiplier ? endless : length * multiplier;
      }
    }
    if (cycle >= cycles) return floor;
    const double top = floor + (peak - floor) * __builtin_pow(peak_factor, static_cast<double>(cycle));
    return Cosine{.peak = top, .floor = floor, .steps = length}(step);
  }
};

}  // namespace algoperf
