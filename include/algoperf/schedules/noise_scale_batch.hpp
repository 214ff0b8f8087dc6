#pragma once

#include "../core/require.hpp"
#include "concept.hpp"
#include "noise_scale.hpp"

namespace algoperf {

// A batch size that follows the gradient noise scale: b = share times the noise scale, rounded to an integer and
// clamped to [least, most]; `least` before the noise scale has been measured. share is in (0, inf), 2 <= least <=
// most: the measurement needs two workers with an example each.
// With noise scale B_n, a batch of share B_n takes 1 + 1 / share times the minimum number of steps and 1 + share times
// the minimum number of examples (McCandlish et al. 2018, arXiv:1812.06162); both factors are 2 at share = 1.
// It is not a function of the step: it must be given measurements of gradients. In a TrainingLoop, MeasuredMean
// provides them:
//   TrainingLoop(model, loss, rule, schedule, scheduled_batch(ShuffledEpochs{}, NoiseScaleBatch{.least = 64}),
//                MeasuredMean{}, InProcess{.workers = 4})
struct NoiseScaleBatch {
  std::uint64_t least = 32;
  std::uint64_t most = 8192;
  double share = 1;
  NoiseScale noise = {};

  void check() const {
    require(least >= 2 && least <= most, "NoiseScaleBatch: least is ", least, ", expected 2 to most, which is ", most);
    require(detail::is_finite(share) && share > 0, "NoiseScaleBatch: share is ", share, ", expected (0, inf)");
    noise.check();
  }

  std::uint64_t operator()(std::uint64_t) const {
    const double size = share * noise.value().value_or(0);
    if (!(size > static_cast<double>(least))) return least;
    return size < static_cast<double>(most) ? static_cast<std::uint64_t>(size + 0.5) : most;
  }

  void observe(const GradientSquares& found) {
    noise.observe(found.small, found.square_small, found.big, found.square_big);
  }

  template <class Archive>
  void visit(Archive& archive) {
    noise.visit(archive);
  }
};

}  // namespace algoperf
