// GradientSquares: a combiner's measurements of the gradients of workers or of examples, for schedules of batch sizes.
#pragma once

#include <optional>

#include "config.hpp"

namespace algoperf {

// How the gradients g_w of W workers, or of W examples, vary about their mean g, along it and across it:
//   along  = sum of (g_w . g - |g|^2)^2 / (W - 1)
//   across = sum of |g_w - (g_w . g / |g|^2) g|^2 / (W - 1)
// Their sample variance is along / |g|^2 + across.
struct GradientSpread {
  double along = 0, across = 0;
};

// The squared norms |g|^2 of gradients over batches of two sizes, small < big (in examples), from which
// schedules/noise_scale.hpp estimates the noise of gradients. If small is 0, nothing was measured.
struct GradientSquares {
  double small = 0, square_small = 0, big = 0, square_big = 0;
  std::optional<GradientSpread> spread = {};  // of gradients over the small batches
};

}  // namespace algoperf
