#pragma once

#include "../../core/math.hpp"
#include "../../core/require.hpp"
#include "../concept.hpp"

namespace algoperf {

// Lion's direction: u' = sign(b1 m + (1 - b1) u);  m' = b2 m + (1 - b2) u. sign(0) = 0.
// beta1, beta2 in [0, 1). Chen et al. 2023, Algorithm 2 (arXiv:2302.06675). State: one float, `exp_avg`.
struct Lion {
  double beta1 = 0.9;
  double beta2 = 0.99;

  static constexpr const char* slot_names[] = {"exp_avg"};
  void check() const {
    require(beta1 >= 0 && beta1 < 1, "Lion: beta1 is ", beta1, ", expected [0, 1)");
    require(beta2 >= 0 && beta2 < 1, "Lion: beta2 is ", beta2, ", expected [0, 1)");
  }

  template <class S>
  struct Kernel {
    static constexpr std::size_t slots = 1;
    S beta1 = 0, rest1 = 0, beta2 = 0, rest2 = 0, size = 1;
    template <class T>
    ALGOPERF_HD T operator()(T u, T, Slots<T, 1>& s) const {
      const T direction = math::sign<T>(beta1 * s[0] + rest1 * u, T(size));
      s[0] = beta2 * s[0] + rest2 * u;
      return direction;
    }
    Kernel scaled(S factor) const { return {beta1, rest1, beta2, rest2, factor * size}; }
  };
  template <class S>
  Kernel<S> at(Step) const {
    return {static_cast<S>(beta1), static_cast<S>(1 - beta1), static_cast<S>(beta2), static_cast<S>(1 - beta2)};
  }
};

}  // namespace algoperf
