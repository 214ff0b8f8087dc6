#pragma once

#include "growing_candidates.hpp"

namespace algoperf {

// A batch size by the augmented inner product test: the smallest one at which mini-batch gradients are descent
// directions with high probability, and do not stray far from the mean gradient g. With gradients g_i of n examples:
//   along  = sum of (g_i . g - |g|^2)^2 / ((n - 1) theta^2 |g|^4)               (inner product test)
//   across = sum of |g_i - (g_i . g / |g|^2) g|^2 / ((n - 1) nu^2 |g|^2)        (orthogonality test)
//   b = max(along, across), rounded up.
// It starts at `least` and only grows: after each `patience` steps, to the smallest b of these steps, up to `most`.
// theta and nu are in (0, inf), 2 <= least <= most.
// Source: AdaBatchGrad (arXiv:2402.05264), after Bollapragada, Byrd & Nocedal 2018; formulas and defaults of a port of
// its code. Whether its `patience` steps overlap is not known; here they do not.
//   TrainingLoop(model, loss, adagrad_norm(), Constant{1}, scheduled_batch(ShuffledEpochs{}, InnerProductBatch{}),
//                MeasuredExamples{})
// Departure with MeasuredSpread and InProcess{.workers = 8} instead: the g_i are the mean gradients of workers with m
// examples each. Averaging over m examples divides the variance by m, so both terms are multiplied by m.
struct InnerProductBatch {
  std::uint64_t least = 32;
  std::uint64_t most = 8192;
  double theta = 0.9;
  double nu = 5.84;
  std::uint64_t patience = 5;
  detail::GrowingCandidates state = {};  // leave it out of `InnerProductBatch{...}`

  static constexpr bool observes_spread = true;
  void check() const {
    detail::check_growing("InnerProductBatch", least, most, patience, theta);
    require(detail::is_finite(nu) && nu > 0, "InnerProductBatch: nu is ", nu, ", expected (0, inf)");
  }
  std::uint64_t operator()(std::uint64_t) const { return state.within(least, most); }

  void observe(const GradientSquares& found) {
    if (!found.spread) return;
    const double square = found.square_big;
    const double along = found.small * found.spread->along / (theta * theta * square * square);
    const double across = found.small * found.spread->across / (nu * nu * square);
    state.add(along > across ? along : across, patience);
  }
  template <class Archive>
  void visit(Archive& archive) {
    state.visit(archive);
  }
};

}  // namespace algoperf
