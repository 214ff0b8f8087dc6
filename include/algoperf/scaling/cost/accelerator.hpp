#pragma once

#include <cmath>

#include "../../core/error.hpp"
#include "quantities.hpp"
#include "requirements.hpp"

namespace algoperf {

// A training device as a roofline model (Williams et al. 2009): a step takes the longer of the times for its FLOPs
// and for its bytes, at the fractions of the peaks that programs reach. The defaults are the target accelerator of
// Hestness et al. 2019, Table 4, which resembles an NVIDIA V100 in single precision.
struct Accelerator {
  FlopsPerSecond peak{15.67e12};
  BytesPerSecond bandwidth{898e9};
  Bytes cache{6e6};
  Bytes memory{32e9};
  BytesPerSecond link{56e9};  // to the next device in a ring
  double peak_reached = 0.8, bandwidth_reached = 0.7;

  void check() const {
    require(peak.value > 0 && bandwidth.value > 0 && cache.value > 0 && memory.value > 0 && link.value > 0,
            "Accelerator: peak, bandwidth, cache, memory and link are ", peak.value, ", ", bandwidth.value, ", ",
            cache.value, ", ", memory.value, " and ", link.value, ", expected positive numbers");
    require(peak_reached > 0 && peak_reached <= 1 && bandwidth_reached > 0 && bandwidth_reached <= 1,
            "Accelerator: peak_reached and bandwidth_reached are ", peak_reached, " and ", bandwidth_reached,
            ", expected (0, 1]");
  }

  constexpr Seconds compute_time(Flops flops) const { return flops / (peak_reached * peak); }
  constexpr Seconds memory_time(Bytes bytes) const { return bytes / (bandwidth_reached * bandwidth); }
  constexpr Seconds time(Flops flops, Bytes bytes) const {
    const Seconds a = compute_time(flops), b = memory_time(bytes);
    return a < b ? b : a;
  }
  // Returns the FLOPs per byte above which FLOPs take longer than bytes.
  constexpr FlopsPerByte ridge() const { return (peak_reached * peak) / (bandwidth_reached * bandwidth); }

  // Returns the smallest batch, of at least one sample, at which FLOPs take as long as bytes: a larger batch saves no
  // time per sample. b = lambda / (gamma / ridge - mu / sqrt p). Infinite if moving the activations alone takes
  // longer than all FLOPs. Hestness et al. use about 1.5 times this batch.
  Samples balanced_batch(const Requirements& r, Parameters p) const {
    const double spare = r.gamma / ridge().value - r.mu / std::sqrt(p.value);
    return Samples(spare > 0 ? std::fmax(r.lambda / spare, 1) : HUGE_VAL);
  }

  // Returns the bytes moved by a product of an m x k and a k x n matrix with elements of `number` bytes. The cache
  // holds three square tiles: one of the result, and one of each operand. If all three matrices fit the cache
  // together, each operand is read once; otherwise it is read again for each row or column of tiles of the result.
  // The result is written once. Throws Error if the cache does not hold three elements.
  Bytes product_bytes(double m, double n, double k, Bytes number = Bytes(4)) const {
    if ((m * k + k * n + m * n) * number.value <= cache.value) return number * (m * k + k * n + m * n);
    const double side = std::floor(std::sqrt(cache / (3 * number)));
    require(side >= 1, "Accelerator: a cache of ", cache.value, " bytes does not hold three elements");
    return number * (m * k * std::ceil(n / side) + k * n * std::ceil(m / side) + m * n);
  }

  // Returns the time of an all-reduce in a ring: each of n devices sends 2 (n - 1) / n of the gradient (Patarasuk &
  // Yuan 2009). Latencies are not included. Throws Error for fewer than one device.
  constexpr Seconds all_reduce(Bytes gradient, double devices) const {
    if (!(devices >= 1 && devices < HUGE_VAL))
      fail("Accelerator: all_reduce of ", devices, " devices, expected 1 or more");
    return 2 * (devices - 1) / devices * gradient / link;
  }
};

}  // namespace algoperf
