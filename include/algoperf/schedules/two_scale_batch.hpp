#pragma once

#include "../core/require.hpp"
#include "concept.hpp"

namespace algoperf {

// A batch size that grows whenever gradient noise, rather than the loss still to go, limits the progress of SGD at a
// constant learning rate: stages t = 0, 1, ... of K_t steps each with a batch of n_t examples. With smoothness L,
// strong convexity l and the variance sigma^2 of an example's gradient, the expected excess loss F - F* after k steps
// of a stage is, for small rates, bounded by
//   (1 - 2 rate l)^k G_t + rate L sigma^2 / (4 l n_t).
// A stage ends when the first term is at most the second, E_t: K_t is the smallest such k, at least 1. Then
//   G_{t+1} = (1 - 2 rate l)^K_t G_t + E_t,  n_{t+1} = factor n_t, rounded up, at most `most`.
// G_0 is `gap`, the excess loss at the start. If 2 rate l >= 1, every stage has one step.
// Required: 0 < rate <= 1 / L; 0 < l <= L; variance and gap more than 0; 1 <= first <= most; factor in (1, inf).
// Source: Gao, Koppel & Ribeiro 2020, "Balancing Rates and Variance via Adaptive Batch-Size for Stochastic Optimization
// Problems" (arXiv:2007.01219), the rule for strongly convex losses that multiplies batches. Unverified: of the paper
// itself only the abstract was read; the constants of the bound and G_{t+1} are those of secondary notes.
struct TwoScaleBatch {
  std::uint64_t first = 1;
  double factor = 2;
  std::uint64_t most = 8192;
  double rate = 0;
  double smoothness = 0, strong_convexity = 0;
  double variance = 0;
  double gap = 0;

  void check() const {
    require(first >= 1 && first <= most, "TwoScaleBatch: first is ", first, ", expected 1 to most, which is ", most);
    require(detail::is_finite(factor) && factor > 1, "TwoScaleBatch: factor is ", factor, ", expected (1, inf)");
    require(detail::is_finite(smoothness) && strong_convexity > 0 && strong_convexity <= smoothness,
            "TwoScaleBatch: strong_convexity and smoothness are ", strong_convexity, " and ", smoothness,
            ", expected 0 < strong_convexity <= smoothness");
    require(rate > 0 && rate * smoothness <= 1, "TwoScaleBatch: rate is ", rate, ", expected (0, 1 / smoothness]");
    require(detail::is_finite(variance) && variance > 0, "TwoScaleBatch: variance is ", variance,
            ", expected (0, inf)");
    require(detail::is_finite(gap) && gap > 0, "TwoScaleBatch: gap is ", gap, ", expected (0, inf)");
  }

  // A call takes one iteration per stage, at most about log(most / first) / log(factor).
  std::uint64_t operator()(std::uint64_t step) const {
    const double change = -2 * rate * strong_convexity;  // of the first term in a step
    double from = gap;
    std::uint64_t batch = first;
    while (batch < most) {
      const double noise = rate * smoothness * variance / (4 * strong_convexity * static_cast<double>(batch));
      double steps = 1;
      if (change > -1 && from > noise)
        steps = __builtin_fmax(1, __builtin_ceil(__builtin_log(noise / from) / __builtin_log1p(change)));
      if (static_cast<double>(step) < steps) break;
      step -= static_cast<std::uint64_t>(steps);
      from = (change > -1 ? __builtin_exp(steps * __builtin_log1p(change)) * from : 0) + noise;
      const double next = __builtin_ceil(factor * static_cast<double>(batch));
      batch = next < static_cast<double>(most) ? static_cast<std::uint64_t>(next) : most;
    }
    return batch;
  }
};

}  // namespace algoperf
