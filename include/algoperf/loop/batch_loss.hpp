// BatchLoss: a batch's mean weighted loss, taken in the backend's memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../core/config.hpp"

namespace algoperf::detail {

// By its bits: comparisons with NaN may be optimised away under -ffast-math.
ALGOPERF_HD bool finite_bits(double x) {
  std::uint64_t bits = 0;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return (bits >> 52 & 0x7FF) != 0x7FF;
}

// loss = the mean of weights times losses; diverged = the step, if that is the first whose loss is not finite.
template <class S>
struct BatchLoss {
  std::size_t n;
  const S* weights;
  const S* losses;
  double* loss;
  std::int64_t* diverged;
  std::int64_t step;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t) const {
    const std::int64_t before = *diverged;
    const S* const weight = weights;
    const S* const of = losses;
    const double total = team.template sum<double>(
        n, [weight, of](std::size_t i) { return static_cast<double>(weight[i]) * static_cast<double>(of[i]); });
    *loss = total / static_cast<double>(n);
    *diverged = before == 0 && !finite_bits(total) ? step : before;
  }
};

}  // namespace algoperf::detail
