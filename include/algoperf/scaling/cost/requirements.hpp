#pragma once

#include <cmath>

#include "../../core/error.hpp"
#include "../fit/fit.hpp"
#include "../laws/first_order.hpp"
#include "quantities.hpp"

namespace algoperf {

// The requirements of a training step with p parameters on a batch of b samples, to first order (Hestness et al.
// 2019, section 4 and Table 2). A sample is one element of the batch: for a network over sequences, a sequence.
struct Requirements {
  double gamma = 0;   // FLOPs per parameter and sample
  double lambda = 0;  // bytes read and written per parameter
  double mu = 0;      // bytes read and written per sample and square root of p
  double delta = 0;   // bytes of memory per parameter

  void check() const {
    require(gamma > 0 && lambda >= 0 && mu >= 0 && delta >= 0, "Requirements: gamma, lambda, mu and delta are ", gamma,
            ", ", lambda, ", ", mu, " and ", delta, ", expected gamma > 0 and the others >= 0");
  }
  constexpr Flops flops(Parameters p, Samples b) const { return Flops(gamma * p.value * b.value); }
  Bytes bytes(Parameters p, Samples b) const { return Bytes(lambda * p.value + mu * b.value * std::sqrt(p.value)); }
  constexpr Bytes footprint(Parameters p) const { return Bytes(delta * p.value); }
  // Returns the FLOPs per byte: gamma b sqrt p / (lambda sqrt p + mu b).
  FlopsPerByte intensity(Parameters p, Samples b) const { return flops(p, b) / bytes(p, b); }
};

// Returns the requirements given by laws fitted to sweeps.
inline Requirements requirements_of(const Fit<StepFlops>& flops, const Fit<StepBytes>& bytes,
                                    const Fit<StepFootprint>& footprint) {
  return {flops.parameters()[0], bytes.parameters()[0], bytes.parameters()[1], footprint.parameters()[0]};
}

}  // namespace algoperf
