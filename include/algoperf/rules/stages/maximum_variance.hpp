#pragma once

#include "root.hpp"

namespace algoperf {

// The second moment shared by MaxVa and LaMaxVa. The decay b of the averages of u and u^2 is chosen for each element
// to maximise the estimated variance. With a, q and w the averages of u, u^2 and 1:
//   mean = a / w;  var = q / w - mean^2;  d = (u - mean)^2;
//   b = (d + var) / (w (d - var) + d + var + 1e-16), clamped to [beta_min, beta_max];
//   b = beta_max if w = 0, which holds in the first step;
//   a' = b a + (1 - b) u;  q' = b q + (1 - b) u^2;  w' = b w + (1 - b);  second moment q' / w'.
// Source: Zhu et al. 2021, "MaxVA" (arXiv:2006.11918), equation 13 and Algorithm 1; the authors' code.
namespace detail {

template <class S>
struct MaximumVariance {
  S least = 0, most = 0;

  template <class T>
  ALGOPERF_HD void update(T u, T& a, T& q, T& w) const {
    const T inverse = T(1) / w, mean = a * inverse, variance = q * inverse - mean * mean;
    const T distance = (u - mean) * (u - mean);
    const T sum = distance + variance;
    const T wanted = sum / (w * (distance - variance) + sum + T(1e-16));
    const T b = math::select<T>(w > T(0), math::min(T(most), math::max(T(least), wanted)), T(most));
    const T rest = T(1) - b;
    a = b * a + rest * u;
    q = b * q + rest * u * u;
    w = b * w + rest;
  }
  // Returns x / (sqrt(q / w) + eps) using one division.
  template <class T>
  ALGOPERF_HD static T quotient(T x, T q, T w, T eps) {
    return x * w / (math::sqrt(q * w) + eps * w);
  }
};

inline void check_maximum_variance(const char* stage, double beta1, double least, double most, double eps) {
  require(beta1 >= 0 && beta1 < 1, stage, ": beta1 is ", beta1, ", expected [0, 1)");
  require(most > 0 && most < 1, stage, ": beta_max is ", most, ", expected (0, 1)");
  require(least >= 0 && least <= most, stage, ": beta_min is ", least, ", expected [0, beta_max]");
  check_eps(stage, eps);
}

}  // namespace detail
}  // namespace algoperf
