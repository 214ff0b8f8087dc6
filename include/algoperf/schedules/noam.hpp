#pragma once

#include "../core/require.hpp"
#include "concept.hpp"

namespace algoperf {

// Linear warm-up, then inverse square root decay, scaled by the width of the model: with n = i + 1,
// s(i) = factor width^-1/2 min(n warmup^-3/2, n^-1/2). The peak, factor (width warmup)^-1/2, is in step warmup - 1.
// With warmup = 0, s(i) = factor width^-1/2 n^-1/2. It has no end. factor is finite, width is in (0, inf).
// Vaswani et al. 2017, equation 3 (arXiv:1706.03762), where n counts from 1. With a given peak p, the same shape is
//   join(Warmup{.peak = p, .steps = W, .start = WarmupStart::one_step_off}, W - 1,
//        InverseSqrt{.peak = p, .timescale = W})
struct Noam {
  double factor = 1;
  double width = 512;
  std::uint64_t warmup = 4000;

  void check() const {
    require(detail::is_finite(factor), "Noam: factor is ", factor, ", expected a finite number");
    require(detail::is_finite(width) && width > 0, "Noam: width is ", width, ", expected (0, inf)");
  }

  double operator()(std::uint64_t step) const {
    const double n = static_cast<double>(step) + 1, w = static_cast<double>(warmup);
    return factor / __builtin_sqrt(width) * (n < w ? n / (w * __builtin_sqrt(w)) : 1 / __builtin_sqrt(n));
  }
};

}  // namespace algoperf
