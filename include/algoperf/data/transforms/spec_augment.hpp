#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "../../core/describe_shape.hpp"
#include "../../core/error.hpp"
#include "../../core/random.hpp"
#include "check_not_ragged.hpp"

namespace algoperf {

// Sets random stretches of frames and of frequencies of each spectrogram to zero:
//   time_masks times       floor(u max_time_ratio frames) frames,       from floor(u' (frames - length + 1)) on
//   frequency_masks times  floor(u max_frequencies) frequencies,    from floor(u' (frequencies - length + 1)) on
// with u and u' uniform in [0, 1). A length of 0 masks nothing. Zero should be the mean of the spectrograms.
// Field: spectrograms {frames, frequencies} or {frames, frequencies, channels}.
// Source: Park et al. 2019, arXiv:1904.08779, without time warping; the lengths and defaults are those of AlgoPerf.
struct SpecAugment {
  std::size_t time_masks = 10;
  double max_time_ratio = 0.05;
  std::size_t frequency_masks = 2;
  std::size_t max_frequencies = 27;
  const char* field = "input";

  template <class Batch>
  void operator()(const Batch& batch, RandomKey key) const {
    detail::check_not_ragged(batch, "SpecAugment", field);
    const Shape shape = batch.shape(field);
    require(shape.rank == 2 || shape.rank == 3, "SpecAugment: the field '", field, "' has shape ", describe(shape),
            ", expected {frames, frequencies}");
    require(max_time_ratio >= 0 && max_time_ratio <= 1, "SpecAugment: max_time_ratio is ", max_time_ratio,
            ", expected [0, 1]");
    require(max_frequencies <= shape[1] + 1, "SpecAugment: max_frequencies is ", max_frequencies,
            ", expected at most one more than the ", shape[1], " frequencies");
    const std::size_t frames = shape[0], frequencies = shape[1], channels = shape.rank == 3 ? shape[2] : 1;
    auto* const x = batch.reals(field);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      auto* const frame = x + i * shape.size();
      RandomStream random(key.fold(i));
      for (std::size_t k = 0; k < time_masks; ++k) {
        const auto [begin, length] = stretch(random, max_time_ratio * static_cast<double>(frames), frames);
        std::fill_n(frame + begin * frequencies * channels, length * frequencies * channels, 0);
      }
      for (std::size_t k = 0; k < frequency_masks; ++k) {
        const auto [begin, length] = stretch(random, static_cast<double>(max_frequencies), frequencies);
        for (std::size_t t = 0; t < frames; ++t)
          std::fill_n(frame + (t * frequencies + begin) * channels, length * channels, 0);
      }
    }
  }

 private:
  struct Stretch {
    std::size_t begin, length;
  };
  static Stretch stretch(RandomStream& random, double longest, std::size_t extent) {
    const auto length = static_cast<std::size_t>(random.uniform_double() * longest);
    const double places = static_cast<double>(extent - length + 1);
    return {static_cast<std::size_t>(random.uniform_double() * places), length};
  }
};

}  // namespace algoperf
