// The rules of the noisy quadratic model: how a step changes the second moments of one coordinate. Throughout, X =
// rate p h, for the curvature h and the preconditioner p; g is the gradient, h x plus noise; and c = rate^2 p^2
// (variance of the noise).
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "../../core/require.hpp"
#include "../concept.hpp"
#include "../geometric.hpp"

namespace algoperf {
namespace detail {

// The momenta and decays that the notebook of Zhang et al. 2019 searches: 20 values from 1 - 10^-5 down to 0.
inline std::vector<double> nqm_seconds() {
  std::vector<double> seconds = geometric(1e-5, 1, 20);
  for (double& x : seconds) x = 1 - x;
  return seconds;
}

}  // namespace detail

// SGD: x' = x - rate p g, as sgd(). Tracks s = E x^2: s' = (1 - X)^2 s + c. Zhang et al. 2019.
struct NqmSgd {
  double rate = 0.1;  // (0, inf)

  static constexpr std::size_t moments = 1;
  static std::vector<double> rates() { return geometric(1e-5, std::sqrt(10.0), 100); }
  void check() const { require(rate > 0 && rate < HUGE_VAL, "NqmSgd: rate is ", rate, ", expected (0, inf)"); }

  std::array<double, 1> start() const { return {1}; }
  AffineMap<1> map(const NqmDirection& d) const {
    const double gain = rate * d.preconditioner, keep = 1 - gain * d.curvature;
    return {{{keep * keep}}, {gain * gain * d.noise}};
  }
  double square(const std::array<double, 1>& s) const { return s[0]; }
};

// Momentum: v' = mu v - rate p g;  x' = x + v', as momentum(), whose m is -v / (rate p). Tracks E x^2, E v^2 and E
// xv, with v = 0 at the start; the noise adds c to each. Zhang et al. 2019, equation 21.
struct NqmMomentum {
  double rate = 0.1;  // (0, inf)
  double mu = 0.9;    // [0, 1)

  static constexpr std::size_t moments = 3;
  static constexpr double NqmMomentum::*second = &NqmMomentum::mu;
  static std::vector<double> rates() { return geometric(1e-8, 10, 100); }
  static std::vector<double> seconds() { return detail::nqm_seconds(); }
  void check() const {
    require(rate > 0 && rate < HUGE_VAL, "NqmMomentum: rate is ", rate, ", expected (0, inf)");
    require(mu >= 0 && mu < 1, "NqmMomentum: mu is ", mu, ", expected [0, 1)");
  }

  std::array<double, 3> start() const { return {1, 0, 0}; }
  AffineMap<3> map(const NqmDirection& d) const {
    const double gain = rate * d.preconditioner, x = gain * d.curvature, keep = 1 - x, m = mu * mu;
    const double c = gain * gain * d.noise;
    return {{{keep * keep, m, 2 * keep * mu},  //
             {x * x, m, -2 * x * mu},
             {-keep * x, m, (keep - x) * mu}},
            {c, c, c}};
  }
  double square(const std::array<double, 3>& s) const { return s[0]; }
};

// SGD evaluated at an average y of the iterates: y' = decay y + (1 - decay) x', y = x at the start. Tracks E x^2, E
// y^2 and E xy. Zhang et al. 2019, equation 38, which tracks y / (1 - decay). WeightAverage, which starts at 0 and
// divides by 1 - decay^t, is (y - decay^t x(0)) / (1 - decay^t).
struct NqmEma {
  double rate = 0.1;   // (0, inf)
  double decay = 0.9;  // [0, 1)

  static constexpr std::size_t moments = 3;
  static constexpr double NqmEma::*second = &NqmEma::decay;
  static std::vector<double> rates() { return geometric(1e-8, 10, 100); }
  static std::vector<double> seconds() { return detail::nqm_seconds(); }
  void check() const {
    require(rate > 0 && rate < HUGE_VAL, "NqmEma: rate is ", rate, ", expected (0, inf)");
    require(decay >= 0 && decay < 1, "NqmEma: decay is ", decay, ", expected [0, 1)");
  }

  std::array<double, 3> start() const { return {1, 1, 1}; }
  AffineMap<3> map(const NqmDirection& d) const {
    const double gain = rate * d.preconditioner, keep = 1 - gain * d.curvature, rest = 1 - decay;
    const double q = keep * keep, c = gain * gain * d.noise;
    return {{{q, 0, 0},  //
             {rest * rest * q, decay * decay, 2 * decay * rest * keep},
             {rest * q, 0, decay * keep}},
            {c, rest * rest * c, rest * c}};
  }
  double square(const std::array<double, 3>& s) const { return s[1]; }
};

}  // namespace algoperf
