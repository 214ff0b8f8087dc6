#pragma once

#include "../core/require.hpp"
#include "concept.hpp"

namespace algoperf {

// A drop every `every` steps: s(i) = from factor^floor(i / every). It has no end. from is finite, factor is in [0, 1],
// every is at least 1.
// Equals torch's StepLR(step_size = every, gamma = factor). For drops at chosen steps see MultiStep.
struct StepDecay {
  double from = 1e-3;
  double factor = 0.1;
  std::uint64_t every = 1000;

  void check() const {
    require(detail::is_finite(from), "StepDecay: from is ", from, ", expected a finite number");
    require(factor >= 0 && factor <= 1, "StepDecay: factor is ", factor, ", expected [0, 1]");
    require(every >= 1, "StepDecay: every is 0, expected at least 1");
  }

  double operator()(std::uint64_t step) const {
    return from * __builtin_pow(factor, static_cast<double>(step / every));
  }
};

}  // namespace algoperf
