// Mathematical functions for kernels. A kernel calls math::sqrt(x) for any T. Maths<T> is looked up when the kernel is
// instantiated, so a backend can add types: backend/host/vector.hpp adds SIMD vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "config.hpp"
#include "half.hpp"

namespace algoperf {

// The functions that kernels may apply to a T. Specialise it to add a type.
template <class T>
struct Maths {
  using Scalar = T;
  using Mask = bool;
  static ALGOPERF_HD T sqrt(T x) {
#if ALGOPERF_ON_DEVICE
    if constexpr (std::is_same_v<T, float>)
      return ::sqrtf(x);
    else
      return ::sqrt(x);
#else
    if constexpr (std::is_same_v<T, float>)
      return __builtin_sqrtf(x);
    else
      return __builtin_sqrt(x);
#endif
  }
  static ALGOPERF_HD T exp(T x) {
#if ALGOPERF_ON_DEVICE
    if constexpr (std::is_same_v<T, float>)
      return ::expf(x);
    else
      return ::exp(x);
#else
    if constexpr (std::is_same_v<T, float>)
      return __builtin_expf(x);
    else
      return __builtin_exp(x);
#endif
  }
  static ALGOPERF_HD T log(T x) {
#if ALGOPERF_ON_DEVICE
    if constexpr (std::is_same_v<T, float>)
      return ::logf(x);
    else
      return ::log(x);
#else
    if constexpr (std::is_same_v<T, float>)
      return __builtin_logf(x);
    else
      return __builtin_log(x);
#endif
  }
  static ALGOPERF_HD T select(bool condition, T a, T b) { return condition ? a : b; }
  static ALGOPERF_HD T nearest_bfloat16(T x) requires(std::is_same_v<T, float>) { return bfloat16(x); }
};

namespace math {

// The element type of T: float for a vector of floats. Literals in kernels are written Scalar<T>(0.5) or T(0.5).
template <class T>
using Scalar = typename Maths<T>::Scalar;

template <class T>
ALGOPERF_HD T sqrt(T x) {
  return Maths<T>::sqrt(x);
}
// A float, or a vector of floats, rounded to bfloat16: to nearest, ties to even.
template <class T>
ALGOPERF_HD T nearest_bfloat16(T x) {
  return Maths<T>::nearest_bfloat16(x);
}

// x / y: to within one unit in the last place if Maths<T> has a fast_divide, otherwise correctly rounded. x
// is 0 or |x| >= 1e-30 (smaller x may lose half of the digits). y is a positive normal number up to 1e37, or
// infinite.
template <class T>
ALGOPERF_HD T fast_divide(T x, T y) {
  if constexpr (requires { Maths<T>::fast_divide(x, y); })
    return Maths<T>::fast_divide(x, y);
  else
    return x / y;
}

// exp exists for SIMD vectors too, because diffGrad applies it to each element. log exists for scalars only and is used
// in rows, losses and `at`.
template <class T>
ALGOPERF_HD T exp(T x) {
  return Maths<T>::exp(x);
}

template <class T>
ALGOPERF_HD T log(T x) {
  return Maths<T>::log(x);
}

ALGOPERF_HD double sin(double x) {
#if ALGOPERF_ON_DEVICE
  return ::sin(x);
#else
  return __builtin_sin(x);
#endif
}
ALGOPERF_HD double cos(double x) {
#if ALGOPERF_ON_DEVICE
  return ::cos(x);
#else
  return __builtin_cos(x);
#endif
}

// Returns a where the condition holds, else b. Kernels must not branch on values in any other way.
template <class T>
ALGOPERF_HD T select(typename Maths<T>::Mask condition, T a, T b) {
  return Maths<T>::select(condition, a, b);
}

// If one argument is NaN, max and min return b.
template <class T>
ALGOPERF_HD T max(T a, T b) {
  if constexpr (requires { Maths<T>::max(a, b); })
    return Maths<T>::max(a, b);
  else
    return select<T>(a > b, a, b);
}

template <class T>
ALGOPERF_HD T min(T a, T b) {
  if constexpr (requires { Maths<T>::min(a, b); })
    return Maths<T>::min(a, b);
  else
    return select<T>(a < b, a, b);
}

template <class T>
ALGOPERF_HD T abs(T x) {
  if constexpr (requires { Maths<T>::abs(x); })
    return Maths<T>::abs(x);
  else
    return select<T>(x < T(0), -x, x);
}

// -1, 0 or 1; sign(0) = 0 and sign(NaN) = NaN, as in torch and numpy.
template <class T>
ALGOPERF_HD T sign(T x) {
  return select<T>(x > T(0), T(1), select<T>(x < T(0), T(-1), x));
}

// 1 / (1 + exp(-x))
template <class T>
ALGOPERF_HD T sigmoid(T x) {
  return T(1) / (T(1) + exp(-x));
}

// tanh by the Taylor series near 0 and by (1 - e) / (1 + e), e = exp(-2 |x|), elsewhere.
template <class T>
ALGOPERF_HD T series_tanh(T x) {
  using S = Scalar<T>;
  constexpr double series[] = {1,
                               -1.0 / 3,
                               2.0 / 15,
                               -17.0 / 315,
                               62.0 / 2835,
                               -1382.0 / 155925,
                               21844.0 / 6081075,
                               -929569.0 / 638512875,
                               6404582.0 / 10854718875};
  constexpr int terms = sizeof(S) == sizeof(float) ? 5 : 9;
  const T square = x * x;
  T near(S(0));
  for (int k = terms - 1; k >= 0; --k) near = near * square + T(static_cast<S>(series[k]));
  const T e = exp(T(S(-2)) * abs(x)), far = (T(1) - e) / (T(1) + e);
  return select<T>(abs(x) < T(S(0.25)), x * near, select<T>(x < T(0), -far, far));
}

// Accurate to a few ulp.
template <class T>
ALGOPERF_HD T tanh(T x) {
  if constexpr (requires { Maths<T>::tanh(x); })
    return Maths<T>::tanh(x);
  else
    return series_tanh(x);
}

// x^n for an integer n, by repeated squaring. Accurate to a few ulp, which suffices for bias corrections, and identical
// on host and device.
ALGOPERF_HD double power(double x, std::uint64_t n) {
  double result = 1;
  for (double square = x; n != 0; n >>= 1, square *= square)
    if (n & 1) result *= square;
  return result;
}

}  // namespace math
}  // namespace algoperf
