// What Adam and its kin share: running averages of the gradient and of its square.
#pragma once

#include "../../core/math.hpp"
#include "../../core/require.hpp"
#include "../concept.hpp"

namespace algoperf::detail {

// m' = b1 m + (1 - b1) u;  v' = b2 v + (1 - b2) u^2.
template <class S>
struct Moments {
  S beta1 = 0, rest1 = 0, beta2 = 0, rest2 = 0;

  static constexpr Moments of(double beta1, double beta2) {
    return {static_cast<S>(beta1), static_cast<S>(1 - beta1), static_cast<S>(beta2), static_cast<S>(1 - beta2)};
  }
  template <class T>
  ALGOPERF_HD void update(T u, T& m, T& v) const {
    m = beta1 * m + rest1 * u;
    v = beta2 * v + rest2 * u * u;
  }
};

// eps as S, and never 0 nor denormal, however small: 0 / (0 + eps) must stay 0.
template <class S>
constexpr S positive(double eps) {
  constexpr double least = sizeof(S) == 4 ? 1.17549435e-38 : 2.2250738585072014e-308;
  return static_cast<S>(eps > least ? eps : least);
}

inline void check_moments(const char* stage, double beta1, double beta2, double eps) {
  require(beta1 >= 0 && beta1 < 1, stage, ": beta1 is ", beta1, ", expected [0, 1)");
  require(beta2 >= 0 && beta2 < 1, stage, ": beta2 is ", beta2, ", expected [0, 1)");
  require(eps > 0, stage, ": eps is ", eps, ", expected more than 0");
}

}  // namespace algoperf::detail
