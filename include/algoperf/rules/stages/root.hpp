// The divisor of adaptive rules: the root of a second moment, with eps.
#pragma once

#include "../../core/math.hpp"
#include "../../core/require.hpp"
#include "../concept.hpp"

namespace algoperf {

// Where eps is added. v is the running second moment, and c^2 its bias correction: 1 - beta2^t, or 1 if it is off.
enum class EpsAt {
  outside,      // sqrt(v / c^2) + eps: Adam's paper, torch, optax's `eps`
  uncorrected,  // (sqrt(v) + eps) / c: "epsilon hat" of Kingma & Ba, section 2; TensorFlow, Keras, DeepSpeed
  inside,       // sqrt(v / c^2 + eps): optax's `eps_root`
};

namespace detail {

// Returns max(x, the smallest positive normal number of S) as S. With such an eps, 0 / (0 + eps) is 0 and not NaN.
template <class S>
ALGOPERF_HD constexpr S positive(double x) {
  constexpr double least = sizeof(S) == 4 ? 1.17549435e-38 : 2.2250738585072014e-308;
  return static_cast<S>(x > least ? x : least);
}

// The divisor times c: sqrt(v + eps) if `inside`, otherwise sqrt(v) + eps, where the member `eps` already includes
// its power of c. The caller multiplies the numerator by c.
template <class S>
struct Root {
  S eps = 0;
  bool inside = false;

  ALGOPERF_HD static constexpr Root of(EpsAt place, double eps, double c = 1) {
    if (place == EpsAt::inside) return {positive<S>(c * c * eps), true};
    return {positive<S>(place == EpsAt::outside ? c * eps : eps), false};
  }
  template <class T>
  ALGOPERF_HD T operator()(T v) const {
    return inside ? math::sqrt(v + eps) : math::sqrt(v) + eps;
  }
};

inline void check_eps(const char* stage, double eps) { require_more_than(0, stage, "eps", eps); }

}  // namespace detail
}  // namespace algoperf
