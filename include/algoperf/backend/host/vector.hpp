// Vector<S>: a native-width SIMD vector, the T with which host passes instantiate kernels. It uses the compiler's
// vector types, so that speed does not depend on optimisation flags. Its width follows the instruction set the
// file is compiled for. In a .cu file a vector has one lane, because nvcc rejects vector types in functions that may
// run on a device, such as kernels. Host code in a .cu file computes the same results but is slower: keep host
// training in .cpp files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "../../core/config.hpp"
#include "../../core/math.hpp"
#include "instruction_set.hpp"

#if ALGOPERF_IN_CUDA_FILE
#elif defined(__AVX__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace algoperf {
inline namespace ALGOPERF_SIMD {

#if defined(__AVX512F__)
inline constexpr std::size_t native_vector_bytes = 64;
#elif defined(__AVX__)
inline constexpr std::size_t native_vector_bytes = 32;
#else
inline constexpr std::size_t native_vector_bytes = 16;
#endif

template <class S>
struct Vector {
#if ALGOPERF_IN_CUDA_FILE
  static constexpr std::size_t width = 1;
  using Native = S;
  using NativeMask = bool;
#else
  static constexpr std::size_t width = native_vector_bytes / sizeof(S);
  using Bits = std::conditional_t<sizeof(S) == 4, std::int32_t, std::int64_t>;
  typedef S Native __attribute__((vector_size(native_vector_bytes)));
  typedef Bits NativeMask __attribute__((vector_size(native_vector_bytes)));
#endif
  struct Mask {
    NativeMask lanes;
    friend ALGOPERF_HD Mask operator&(Mask a, Mask b) { return {NativeMask(a.lanes & b.lanes)}; }
    friend ALGOPERF_HD Mask operator|(Mask a, Mask b) { return {NativeMask(a.lanes | b.lanes)}; }
    friend ALGOPERF_HD Mask operator!(Mask a) { return {a.lanes == NativeMask{}}; }
    friend ALGOPERF_HD Mask operator&&(Mask a, Mask b) { return a & b; }
    friend ALGOPERF_HD Mask operator||(Mask a, Mask b) { return a | b; }
  };

  Native lanes;

  Vector() = default;
  ALGOPERF_HD Vector(Native native) : lanes(native) {}
  template <class A>
  requires std::is_arithmetic_v<A> ALGOPERF_HD Vector(A x)
      : lanes(static_cast<S>(x) - Native{}) {}  // x in every lane (x - 0 keeps the sign of zero)

  static ALGOPERF_HD Vector load(const S* from) {
    Vector v;
    __builtin_memcpy(&v.lanes, from, sizeof v.lanes);
    return v;
  }
  ALGOPERF_HD void store(S* to) const { __builtin_memcpy(to, &lanes, sizeof lanes); }

  friend ALGOPERF_HD Vector operator+(Vector a, Vector b) { return a.lanes + b.lanes; }
  friend ALGOPERF_HD Vector operator-(Vector a, Vector b) { return a.lanes - b.lanes; }
  friend ALGOPERF_HD Vector operator*(Vector a, Vector b) { return a.lanes * b.lanes; }
  friend ALGOPERF_HD Vector operator/(Vector a, Vector b) { return a.lanes / b.lanes; }
  friend ALGOPERF_HD Vector operator-(Vector a) { return -a.lanes; }
  ALGOPERF_HD Vector& operator+=(Vector b) { return *this = *this + b; }
  ALGOPERF_HD Vector& operator-=(Vector b) { return *this = *this - b; }
  ALGOPERF_HD Vector& operator*=(Vector b) { return *this = *this * b; }
  ALGOPERF_HD Vector& operator/=(Vector b) { return *this = *this / b; }
  friend ALGOPERF_HD Mask operator<(Vector a, Vector b) { return {a.lanes < b.lanes}; }
  friend ALGOPERF_HD Mask operator>(Vector a, Vector b) { return {a.lanes > b.lanes}; }
  friend ALGOPERF_HD Mask operator<=(Vector a, Vector b) { return {a.lanes <= b.lanes}; }
  friend ALGOPERF_HD Mask operator>=(Vector a, Vector b) { return {a.lanes >= b.lanes}; }
  friend ALGOPERF_HD Mask operator==(Vector a, Vector b) { return {a.lanes == b.lanes}; }
  friend ALGOPERF_HD Mask operator!=(Vector a, Vector b) { return {a.lanes != b.lanes}; }
};

}  // namespace ALGOPERF_SIMD

template <class S>
struct Maths<Vector<S>> {
  using Scalar = S;
  using Mask = typename Vector<S>::Mask;
  static ALGOPERF_HD Vector<S> sqrt(Vector<S> x) {
    [[maybe_unused]] constexpr bool is_float = std::is_same_v<S, float>;
#if ALGOPERF_IN_CUDA_FILE
    return Maths<S>::sqrt(x.lanes);
#elif defined(__AVX512F__)
    if constexpr (is_float)
      return Native<S>(_mm512_maskz_sqrt_ps(static_cast<__mmask16>(-1), x.lanes));
    else
      return Native<S>(_mm512_maskz_sqrt_pd(static_cast<__mmask8>(-1), x.lanes));
#elif defined(__AVX__)
    if constexpr (is_float)
      return Native<S>(_mm256_sqrt_ps(x.lanes));
    else
      return Native<S>(_mm256_sqrt_pd(x.lanes));
#elif defined(__SSE2__)
    if constexpr (is_float)
      return Native<S>(_mm_sqrt_ps(x.lanes));
    else
      return Native<S>(_mm_sqrt_pd(x.lanes));
#else
    for (std::size_t i = 0; i < Vector<S>::width; ++i)
      x.lanes[i] = is_float ? static_cast<S>(__builtin_sqrtf(static_cast<float>(x.lanes[i])))
                            : static_cast<S>(__builtin_sqrt(x.lanes[i]));
    return x;
#endif
  }
#if defined(__AVX512F__) && !ALGOPERF_IN_CUDA_FILE
  // A core has one divider, and a square root and a quotient of 16 floats occupy it for 20 cycles or more. This
  // function instead refines a 14-bit estimate of the reciprocal with multiplications and additions. Adam steps in
  // cache become 1.2 times as fast.
  static Vector<S> fast_divide(Vector<S> x, Vector<S> y) requires(sizeof(S) == 4) {
    const __m512 most = _mm512_set1_ps(0x1.fffffep127F);
    const __m512 divisor = _mm512_min_ps(most, y.lanes);  // min returns its second operand if one is NaN
    const __m512 inverse = _mm512_maskz_rcp14_ps(0xFFFF, divisor), quotient = x.lanes * inverse;
    return Native<S>(_mm512_fmadd_ps(_mm512_fnmadd_ps(quotient, divisor, x.lanes), inverse, quotient));
  }
#endif
  // exp(x) within 2 ulp. Returns 0 where the result is below about 1.4 times the smallest normal number and infinity
  // where it is above the largest. Uses exp(x) = 2^n exp(r), |r| <= log(2) / 2, and the Taylor series of exp(r),
  // whose first omitted term is below the last bit. n is clamped to the range in which 2^(n-1) has the bit pattern of
  // 0 at the lower end and of infinity at the upper end. NaN propagates through the series.
  static ALGOPERF_HD Vector<S> exp(Vector<S> x) {
#if ALGOPERF_IN_CUDA_FILE
    return Maths<S>::exp(x.lanes);
#else
    using V = Vector<S>;
    constexpr bool is_float = sizeof(S) == 4;
    constexpr int mantissa = is_float ? 23 : 52, terms = is_float ? 7 : 13;
    constexpr int bias = is_float ? 127 : 1023;
    constexpr S log2 = S(0.6931471805599453), least = S(1 - bias) * log2, most = S(bias + 2) * log2;
    constexpr S log2_high = is_float ? S(0.693359375) : S(0.693145751953125);
    constexpr S log2_low = is_float ? S(-2.12194440e-4) : S(1.42860682030941723212e-6);
    const V magic(S(1.5) * S(std::int64_t{1} << mantissa));  // adding it rounds to an integer
    x = select(x < V(least), V(least), x);
    x = select(x > V(most), V(most), x);
    const V rounded = x * V(S(1.4426950408889634)) + magic, n = rounded - magic;
    const V r = x - n * V(log2_high) - n * V(log2_low);
    V sum = V(inverse_factorial(terms));
    for (int k = terms - 1; k >= 0; --k) sum = sum * r + V(inverse_factorial(k));
    // 2^(n-1), because n may exceed the largest exponent by one; the last bits of `rounded` hold n.
    const auto power = reinterpret_cast<typename V::NativeMask>(rounded.lanes) + (bias - 1);
    return (sum + sum) * V(reinterpret_cast<Native<S>>(power << mantissa));
#endif
  }
  static ALGOPERF_HD Vector<S> select(Mask condition, Vector<S> a, Vector<S> b) {
    return Native<S>(condition.lanes ? a.lanes : b.lanes);
  }

 private:
  template <class U>
  using Native = typename Vector<U>::Native;
  static constexpr S inverse_factorial(int k) {
    double product = 1;
    for (; k > 1; --k) product *= k;
    return static_cast<S>(1 / product);
  }
};

}  // namespace algoperf
