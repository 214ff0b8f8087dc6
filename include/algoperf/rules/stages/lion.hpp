#pragma once

#include "../../core/math.hpp"
#include "../../core/require.hpp"
#include "../concept.hpp"

namespace algoperf {

// The direction of Lion, with sign(0) = 0:
//   u' = sign(b1 m + (1 - b1) u);  m' = b2 m + (1 - b2) u.
// Hyperparameters: beta1, beta2 in [0, 1).
// Source: Chen et al. 2023, Algorithm 2 (arXiv:2302.06675).
// Cost: one float of state per parameter, `exp_avg`. chain(Lion{}, Descend{}) reads and writes 20 bytes per parameter
// and step.
struct Lion {
  double beta1 = 0.9;
  double beta2 = 0.99;

  static constexpr const char* slot_names[] = {"exp_avg"};
  void check() const {
    require(beta1 >= 0 && beta1 < 1, "Lion: beta1 is ", beta1, ", expected [0, 1)");
    require(beta2 >= 0 && beta2 < 1, "Lion: beta2 is ", beta2, ", expected [0, 1)");
  }

  // Computes bound * sign(x) as huge * x clamped to [-bound, bound]. This takes three instructions (comparisons take
  // six) and propagates NaN. `bound` is never negative: scaled() moves the sign of its factor into `huge`. For
  // denormal x, the magnitude of the result may be less than `bound`. Hosts flush denormal x to zero.
  template <class S>
  struct Kernel {
    static constexpr std::size_t slots = 1;
    S beta1 = 0, rest1 = 0, beta2 = 0, rest2 = 0, huge = 0, bound = 0;
    template <class T>
    ALGOPERF_HD T operator()(T u, T, Slots<T, 1>& s) const {
      const T steep = huge * (beta1 * s[0] + rest1 * u);
      s[0] = beta2 * s[0] + rest2 * u;
      return math::min(T(bound), math::max(T(-bound), steep));
    }
    ALGOPERF_HD Kernel scaled(S factor) const {
      return {beta1, rest1, beta2, rest2, factor < 0 ? -huge : huge, bound * (factor < 0 ? -factor : factor)};
    }
  };
  template <class S>
  ALGOPERF_HD Kernel<S> at(Step) const {
    return {static_cast<S>(beta1),
            static_cast<S>(1 - beta1),
            static_cast<S>(beta2),
            static_cast<S>(1 - beta2),
            sizeof(S) == 4 ? S(3e38) : static_cast<S>(1e308),
            S(1)};
  }
};

}  // namespace algoperf
