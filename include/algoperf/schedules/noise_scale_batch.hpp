#pragma once

#include "../core/require.hpp"
#include "concept.hpp"
#include "noise_scale.hpp"

namespace algoperf {

// A batch that follows the noise: b = share times the noise scale, rounded to a whole number and held within
// [least, most]; `least` while the noise scale is not known. share is in (0, inf), 2 <= least <= most:
// two workers must have an example each to measure.
// With B_n the noise scale, a batch of share B_n takes 1 + 1 / share times the fewest steps, and 1 + share times the
// fewest examples (McCandlish et al. 2018, arXiv:1812.06162); both double at share = 1.
// Not a function of the step: it must be told what gradients measured. In a TrainingLoop MeasuredMean tells it:
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
    const double size = share * noise.value();
    if (!(size > static_cast<double>(least))) return least;
    return size < static_cast<double>(most) ? static_cast<std::uint64_t>(size + 0.5) : most;
  }

  // As NoiseScale's.
  void observe(double small, double square_small, double big, double square_big) {
    noise.observe(small, square_small, big, square_big);
  }

  template <class Archive>
  void visit(Archive& archive) {
    noise.visit(archive);
  }
};

}  // namespace algoperf
