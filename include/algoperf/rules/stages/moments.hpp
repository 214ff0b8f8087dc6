// Shared by Adam and its variants: running averages of the gradient and of its square, and their bias correction.
#pragma once

#include "root.hpp"

namespace algoperf {

// Whether averages that start at zero are divided by 1 - beta^t.
enum class BiasCorrection { on, off };

namespace detail {

// m' = b1 m + (1 - b1) u;  v' = b2 v + (1 - b2) u^2.
template <class S>
struct Moments {
  S beta1 = 0, rest1 = 0, beta2 = 0, rest2 = 0;

  ALGOPERF_HD static constexpr Moments of(double beta1, double beta2) {
    return {static_cast<S>(beta1), static_cast<S>(1 - beta1), static_cast<S>(beta2), static_cast<S>(1 - beta2)};
  }
  template <class T>
  ALGOPERF_HD void update(T u, T& m, T& v) const {
    m = beta1 * m + rest1 * u;
    v = beta2 * v + rest2 * u * u;
  }
};

// Returns 1 - beta^t, or 1 if the correction is off.
ALGOPERF_HD double bias(double beta, Step step, BiasCorrection correction = BiasCorrection::on) {
  return correction == BiasCorrection::on ? 1 - math::power(beta, step.t) : 1;
}

inline void check_moments(const char* stage, double beta1, double beta2, double eps) {
  require(beta1 >= 0 && beta1 < 1, stage, ": beta1 is ", beta1, ", expected [0, 1)");
  require(beta2 >= 0 && beta2 < 1, stage, ": beta2 is ", beta2, ", expected [0, 1)");
  check_eps(stage, eps);
}

}  // namespace detail
}  // namespace algoperf
