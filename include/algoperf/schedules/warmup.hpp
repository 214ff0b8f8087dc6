#pragma once

#include "../core/require.hpp"
#include "concept.hpp"

namespace algoperf {

// The offset of a warm-up of W steps. With from = 0:
enum class WarmupStart {
  at_from,       // s(i) = peak i / W:        0 in step 0, the peak in step W (optax, AlgoPerf, torch, Hugging Face)
  one_step_off,  // s(i) = peak (i + 1) / W:  peak / W in step 0, the peak in step W - 1 (llm.c, schedule-free)
};

// Linear warm-up, then the peak: s(i) = from + (peak - from) k / steps, where k is i, or i + 1 with one_step_off; the
// peak from k = steps on (with steps = 0, at every step). peak and from are finite.
// By default, as in optax, the learning rate in step 0 is 0: the first update has no effect, but costs a gradient.
// torch's LinearLR(start_factor) is {.from = start_factor peak}. To continue after the warm-up, see WarmupCosine and
// join.
struct Warmup {
  double peak = 1e-3;
  std::uint64_t steps = 0;
  double from = 0;
  WarmupStart start = WarmupStart::at_from;

  void check() const {
    require(detail::is_finite(peak), "Warmup: peak is ", peak, ", expected a finite number");
    require(detail::is_finite(from), "Warmup: from is ", from, ", expected a finite number");
  }

  constexpr double operator()(std::uint64_t step) const {
    if (step >= steps) return peak;
    const std::uint64_t k = step + (start == WarmupStart::one_step_off ? 1 : 0);
    if (k == steps) return peak;
    return from + (peak - from) * (static_cast<double>(k) / static_cast<double>(steps));
  }
};

}  // namespace algoperf
