#pragma once

#include "growing_candidates.hpp"

namespace algoperf {

// A batch size by the norm test: the smallest one at which the noise of the mean gradient g is at most theta |g|,
//   b = tr(Sigma) / (theta^2 |g|^2),
// where Sigma is the covariance of one example's gradient. It starts at `least` and only grows: after each `patience`
// steps, to the smallest b of these steps, up to `most`. theta is in (0, inf), 2 <= least <= most.
// Source: Byrd, Chin, Nocedal & Wu 2012, "Sample size selection in optimization methods for machine learning". The rule
// of growth is that of AdaBatchGrad's code (InnerProductBatch). Neither paper was read for this; the formula is that of
// a port of AdaBatchGrad's code.
// tr(Sigma) is estimated from gradients over batches of two sizes, as in NoiseScale; |g|^2 is that of the whole batch,
// with its noise. Needs a combiner that measures gradients, as NoiseScaleBatch does.
struct NormTestBatch {
  std::uint64_t least = 32;
  std::uint64_t most = 8192;
  double theta = 0.9;
  std::uint64_t patience = 5;
  detail::GrowingCandidates state = {};  // leave it out of `NormTestBatch{...}`

  void check() const { detail::check_growing("NormTestBatch", least, most, patience, theta); }
  std::uint64_t operator()(std::uint64_t) const { return state.within(least, most); }

  void observe(const GradientSquares& found) {
    const double trace = (found.square_small - found.square_big) / (1 / found.small - 1 / found.big);
    state.add(trace / (theta * theta * found.square_big), patience);
  }
  template <class Archive>
  void visit(Archive& archive) {
    state.visit(archive);
  }
};

}  // namespace algoperf
