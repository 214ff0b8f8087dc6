#pragma once

#include "../core/require.hpp"
#include "concept.hpp"
#include "warmup.hpp"

namespace algoperf {

// The remaining fraction of the peak, given the completed fraction r of the cooldown.
enum class Cooldown {
  linear,          // 1 - r (Zhai et al. 2022, arXiv:2106.04560)
  cosine,          // (1 + cos(pi r)) / 2
  one_minus_sqrt,  // 1 - sqrt(r) (Hägele et al. 2024, arXiv:2405.18392)
};

// Warm-up, stable, decay (WSD): Warmup for `warmup` steps; the peak up to step total - cooldown; then
// s(i) = floor + (peak - floor) rest(r), r = (i - (total - cooldown)) / cooldown, where rest is given by `shape`; the
// floor from step `total` on. `total` includes all three phases; warmup + cooldown <= total, and any may be 0. peak,
// floor and from are finite; floor is a value, not a factor of the peak.
// Hu et al. 2024 (arXiv:2404.06395). Equals Hugging Face's get_wsd_schedule(warmup, cooldown, total) with from = floor
// (its warm-up begins at the floor) and a linear warm-up; llm.c's wsd is {.cooldown = total / 5, .shape =
// Cooldown::one_minus_sqrt, .start = WarmupStart::one_step_off}.
struct Trapezoid {
  double peak = 2e-3;
  std::uint64_t warmup = 200;
  std::uint64_t total = detail::not_given;
  std::uint64_t cooldown = 800;
  Cooldown shape = Cooldown::linear;
  double floor = 0;
  double from = 0;
  WarmupStart start = WarmupStart::at_from;

  void check() const {
    require(warmup <= total, "Trapezoid: warmup is ", warmup, ", expected at most total, which is ", total);
    require(cooldown <= total - warmup, "Trapezoid: cooldown is ", cooldown,
            ", expected at most total - warmup, which is ", total - warmup);
    require(detail::is_finite(peak), "Trapezoid: peak is ", peak, ", expected a finite number");
    require(detail::is_finite(floor), "Trapezoid: floor is ", floor, ", expected a finite number");
    require(detail::is_finite(from), "Trapezoid: from is ", from, ", expected a finite number");
    require(total != detail::not_given, "Trapezoid: total is not given");
  }

  double operator()(std::uint64_t step) const {
    if (step >= total) return floor;
    if (step < warmup) return Warmup{peak, warmup, from, start}(step);
    const std::uint64_t begin = total - cooldown;
    if (step < begin) return peak;
    return floor + (peak - floor) * rest(static_cast<double>(step - begin) / static_cast<double>(cooldown));
  }

 private:
  double rest(double r) const {
    constexpr double pi = 3.14159265358979323846;
    switch (shape) {
      case Cooldown::linear:
        return 1 - r;
      case Cooldown::cosine:
        return 0.5 * (1 + __builtin_cos(pi * r));
      case Cooldown::one_minus_sqrt:
        return 1 - __builtin_sqrt(r);
    }
    return 0;
  }
};

}  // namespace algoperf
