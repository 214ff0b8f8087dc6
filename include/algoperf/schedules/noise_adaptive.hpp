#pragma once

#include "../core/require.hpp"
#include "concept.hpp"

namespace algoperf {

// An exponential decay whose rate depends on its length: s(i) = from alpha^i with alpha = (beta / steps)^(1 / steps).
// It ends at from beta / steps and holds that value. steps = 0 is treated as the end of a schedule of length 1: the
// value is from beta. from is finite and beta is in (0, inf); beta above `steps` makes the schedule rise.
// Vaswani, Dubois-Taine & Babanezhad 2022 (arXiv:2110.11442): SGD with from = 1 / L, L the smoothness, converges at a
// rate that adapts to the noise without knowing it. Their code has beta = 1 and counts from 0, as here; the paper
// counts from 1.
struct NoiseAdaptive {
  double from = 1e-3;
  double beta = 1;
  std::uint64_t steps = detail::not_given;

  void check() const {
    require(detail::is_finite(from), "NoiseAdaptive: from is ", from, ", expected a finite number");
    require(detail::is_finite(beta) && beta > 0, "NoiseAdaptive: beta is ", beta, ", expected (0, inf)");
    require(steps != detail::not_given, "NoiseAdaptive: steps is not given");
  }

  double operator()(std::uint64_t step) const {
    const double n = steps == 0 ? 1 : static_cast<double>(steps);
    if (step >= steps) return from * (beta / n);
    return from * __builtin_pow(beta / n, static_cast<double>(step) / n);
  }
};

}  // namespace algoperf
