// Loss scales: factors for the loss that keep its 16-bit gradients from underflowing.
#pragma once

#include <cstdint>

#include "../../core/config.hpp"
#include "../../core/math.hpp"
#include "../../core/require.hpp"

namespace algoperf {

// A loss scale that adapts. It is multiplied by `backoff` after a gradient that is not finite, and by `growth` after
// `interval` finite gradients in a row. start > 0, growth >= 1, backoff in (0, 1], interval > 0.
// {.start = 1024, .growth = 1, .backoff = 1} is a constant scale. The behaviour and the defaults are those of
// torch's GradScaler.
struct DynamicLossScale {
  double start = 65536;
  double growth = 2;
  double backoff = 0.5;
  std::uint64_t interval = 2000;

  void check() const {
    require(start > 0 && start <= 1e30, "DynamicLossScale: start is ", start, ", expected (0, 1e30]");
    require(growth >= 1 && growth <= 1e30, "DynamicLossScale: growth is ", growth, ", expected [1, 1e30]");
    require(backoff > 0 && backoff <= 1, "DynamicLossScale: backoff is ", backoff, ", expected (0, 1]");
    require(interval > 0, "DynamicLossScale: interval is 0, expected at least 1");
  }

  // Updates `scale` after a gradient. `quiet` counts the finite gradients since the last change.
  ALGOPERF_HD void move(bool finite, double& scale, std::uint64_t& quiet) const {
    quiet = finite ? quiet + 1 : 0;
    if (!finite) scale = math::max(scale * backoff, 1e-30);  // 1 / scale must be finite as a float
    if (quiet < interval) return;
    scale = math::min(scale * growth, 1e30);
    quiet = 0;
  }
};

// No loss scale: for bfloat16, which has the range of float.
struct NoLossScale {
  static constexpr double start = 1;
  void check() const {}
  ALGOPERF_HD void move(bool, double&, std::uint64_t&) const {}
};

}  // namespace algoperf
