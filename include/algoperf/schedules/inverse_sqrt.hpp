#pragma once

#include "../core/require.hpp"
#include "concept.hpp"

namespace algoperf {

// Inverse square root decay: s(i) = peak / sqrt(1 + (i - begin) / timescale); the peak up to `begin`, half of it at
// begin + 3 timescale. It has no end. peak is finite; timescale is in (0, inf), in steps.
// Zhai et al. 2022 (arXiv:2106.04560). Hugging Face's inverse_sqrt after W steps of warm-up and big_vision's rsqrt are
// join(Warmup{.peak = lr, .steps = W}, W, InverseSqrt{.peak = lr, .timescale = W}). Any sqrt(T / (i + shift)) is
// {.peak = sqrt(T / shift), .timescale = shift}; 1 / sqrt(max(i, n)), as in Tensor2Tensor, is {.peak = 1 / sqrt(n),
// .timescale = n, .begin = n}. For the schedule of the Transformer see Noam.
struct InverseSqrt {
  double peak = 1e-3;
  double timescale = 10000;
  std::uint64_t begin = 0;

  void check() const {
    require(detail::is_finite(peak), "InverseSqrt: peak is ", peak, ", expected a finite number");
    require(detail::is_finite(timescale) && timescale > 0, "InverseSqrt: timescale is ", timescale,
            ", expected (0, inf)");
  }

  double operator()(std::uint64_t step) const {
    if (step <= begin) return peak;
    return peak / __builtin_sqrt(1 + static_cast<double>(step - begin) / timescale);
  }
};

}  // namespace algoperf
