#pragma once

#include "../core/require.hpp"
#include "cosine.hpp"
#include "warmup.hpp"

namespace algoperf {

// Linear warm-up, then half a cosine: Warmup for `warmup` steps, then Cosine from peak to floor over the remaining
// total - warmup steps; `floor` from step `total` on. `total` includes the warm-up, as optax's decay_steps does.
// warmup <= total; peak, floor and from are finite. warmup = 0 is Cosine alone; with warmup = total, the value is floor
// from the end of the warm-up on. floor is a value, not a factor of the peak. Equals optax's
// warmup_cosine_decay_schedule.
struct WarmupCosine {
  double peak = 2e-3;
  std::uint64_t warmup = 200;
  std::uint64_t total = detail::not_given;
  double floor = 0;
  double from = 0;
  WarmupStart start = WarmupStart::at_from;

  void check() const {
    require(warmup <= total, "WarmupCosine: warmup is ", warmup, ", expected at most total, which is ", total);
    require(detail::is_finite(peak), "WarmupCosine: peak is ", peak, ", expected a finite number");
    require(detail::is_finite(floor), "WarmupCosine: floor is ", floor, ", expected a finite number");
    require(detail::is_finite(from), "WarmupCosine: from is ", from, ", expected a finite number");
    require(total != detail::not_given, "WarmupCosine: total is not given");
  }

  double operator()(std::uint64_t step) const {
    if (step >= total) return floor;
    if (step < warmup) return Warmup{peak, warmup, from, start}(step);
    return Cosine{peak, floor, total - warmup}(step - warmup);
  }
};

}  // namespace algoperf
