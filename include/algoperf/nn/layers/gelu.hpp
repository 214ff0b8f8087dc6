#pragma once

#include "../../core/math.hpp"
#include "../../core/normal_tail.hpp"
#include "../activation.hpp"

namespace algoperf {

namespace detail {

// The cumulative probability P(X <= x) of the standard normal distribution, and its density at x.
template <class T>
struct Normal {
  T probability, density;
  ALGOPERF_HD explicit Normal(T x) {
    const T bell = math::exp(T(-0.5f) * x * x), tail = math::normal_tail(math::abs(x)) * bell;
    probability = math::select<T>(x < T(0), tail, T(1) - tail);
    density = T(static_cast<math::Scalar<T>>(0.39894228040143268)) * bell;
  }
};

// max(x, 0) - |x| P(X > |x|)
struct GeluForward {
  template <class T>
  ALGOPERF_HD T operator()(T, T x) const {
    const T a = math::min(T(40), math::abs(x));  // from here on, P(X > a) is 0
    return math::max(T(0), x) - a * (math::normal_tail(a) * math::exp(T(-0.5f) * a * a));
  }
};
struct GeluBackward {
  template <class T>
  ALGOPERF_HD T operator()(T, T x, T dy) const {
    const Normal<T> at(x);
    return dy * (at.probability + x * at.density);
  }
};

// 1/2 (1 + tanh(s)) = sigmoid(2 s), s = sqrt(2 / pi) (x + 0.044715 x^3).
struct GeluTanhForward {
  template <class T>
  ALGOPERF_HD T operator()(T, T x) const {
    return x * gate(x);
  }
  template <class T>
  static ALGOPERF_HD T gate(T x) {
    using S = math::Scalar<T>;
    return math::sigmoid(T(static_cast<S>(1.5957691216057308)) * (x + T(static_cast<S>(0.044715)) * x * x * x));
  }
};
struct GeluTanhBackward {
  template <class T>
  ALGOPERF_HD T operator()(T, T x, T dy) const {
    using S = math::Scalar<T>;
    const T gate = GeluTanhForward::gate(x);
    const T slope = T(static_cast<S>(1.5957691216057308)) * (T(1) + T(static_cast<S>(3 * 0.044715)) * x * x);
    return dy * (gate + x * gate * (T(1) - gate) * slope);
  }
};

}  // namespace detail

// y = x P(X <= x), X standard normal; dx = dy (P(X <= x) + x density(x)). As torch's GELU, but y is 0 for
// x = -inf, not NaN.
// Source: Hendrycks & Gimpel 2016, arXiv:1606.08415. Cost: 35 FLOPs per element forward, 37 backward, in float.
struct Gelu : Activation<detail::GeluForward, detail::GeluBackward, 35, 37> {};

// y = x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))): the approximation used by GPT-2, by jax.nn.gelu, and by torch
// with approximate="tanh"; within 5e-4 of Gelu. Cost: 9 FLOPs per element forward, 18 backward.
struct GeluTanh : Activation<detail::GeluTanhForward, detail::GeluTanhBackward, 9, 18> {};

}  // namespace algoperf
