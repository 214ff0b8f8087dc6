#pragma once

#include <cstddef>
#include <string>

#include "../../core/describe_shape.hpp"
#include "../../core/error.hpp"
#include "../../core/random.hpp"

namespace algoperf {

// Sets random stretches of frames and of frequencies of each spectrogram to zero:
//   time_masks times       floor(u max_time_ratio frames) frames,       from floor(u' (frames - length + 1)) on
//   frequency_masks times  floor(u max_frequencies) frequencies,    from floor(u' (frequencies - length + 1)) on
// with u and u' uniform in [0, 1). A length of 0 masks nothing. `frames` are those of the whole spectrogram.
// Standardise spectrograms first, so that zero is their mean.
// Field: spectrograms {frames, frequencies} or {frames, frequencies, channels}. On a ragged axis, the rows of an
//   example are windows of one spectrogram, with one of these shapes, and each window begins `hop` frames after the one
//   before (data/speech_fields.hpp). A frame is then masked in all windows that hold it.
// Source: Park et al. 2019, arXiv:1904.08779, without time warping; the lengths and defaults are those of AlgoPerf.
struct SpecAugment {
  std::size_t time_masks = 10;
  double max_time_ratio = 0.05;
  std::size_t frequency_masks = 2;
  std::size_t max_frequencies = 27;
  const char* field = "input";
  std::size_t hop = 0;  // 0 unless the field lies on a ragged axis

  template <class Batch>
  void operator()(const Batch& batch, RandomKey key) const {
    const Shape shape = batch.shape(field);
    require(hop > 0 || !batch.is_ragged(field),
            "SpecAugment: hop is 0, expected the frames from one window to the next, ", "because the field '", field,
            "' lies on a ragged axis");
    require(hop == 0 || batch.is_ragged(field), "SpecAugment: hop is ", hop, ", expected 0, because the field '", field,
            "' has one row per example");
    require(shape.rank == 2 || shape.rank == 3, "SpecAugment: the field '", field, "' has shape ", describe(shape),
            ", expected {frames, frequencies}");
    require(max_time_ratio >= 0 && max_time_ratio <= 1, "SpecAugment: max_time_ratio is ", max_time_ratio,
            ", expected [0, 1]");
    require(max_frequencies <= shape[1] + 1, "SpecAugment: max_frequencies is ", max_frequencies,
            ", expected at most one more than the ", shape[1], " frequencies");
    const std::size_t frequencies = shape[1], channels = shape.rank == 3 ? shape[2] : 1;
    auto* window = batch.reals(field);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const std::size_t windows = batch.rows(field, i);
      const std::size_t frames = windows == 0 ? 0 : (windows - 1) * hop + shape[0];
      RandomStream random(key.fold(i));
      // Sets `count` frequencies from `frequency` on to 0, in the frames of `time`, in every window that holds them.
      const auto mask = [&](const Stretch& time, std::size_t frequency, std::size_t count) {
        for (std::size_t w = 0; w < windows; ++w)
          for (std::size_t t = 0; t < shape[0]; ++t)
            if (w * hop + t >= time.begin && w * hop + t < time.begin + time.length)
              for (std::size_t c = frequency * channels; c < (frequency + count) * channels; ++c)
                window[w * shape.size() + t * frequencies * channels + c] = 0;
      };
      for (std::size_t k = 0; k < time_masks; ++k)
        mask(stretch(random, max_time_ratio * static_cast<double>(frames), frames), 0, frequencies);
      for (std::size_t k = 0; k < frequency_masks; ++k) {
        const Stretch masked = stretch(random, static_cast<double>(max_frequencies), frequencies);
        mask({0, frames}, masked.begin, masked.length);
      }
      window += windows * shape.size();
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
