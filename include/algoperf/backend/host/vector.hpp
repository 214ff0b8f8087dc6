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
    const __m512 divisor = math::min(Vector<S>(0x1.fffffep127F), y).lanes;
    const __m512 inverse = _mm512_maskz_rcp14_ps(0xFFFF, divisor), quotient = x.lanes * inverse;
    return Native<S>(_mm512_fmadd_ps(_mm512_fnmadd_ps(quotient, divisor, x.lanes), inverse, quotient));
  }
#endif
  static ALGOPERF_HD Vector<S> nearest_bfloat16(Vector<S> x) requires(std::is_same_v<S, float>) {
#if ALGOPERF_IN_CUDA_FILE
    return Maths<S>::nearest_bfloat16(x.lanes);
#else
    typedef std::uint32_t Words __attribute__((vector_size(native_vector_bytes)));
    const Words bits = reinterpret_cast<Words>(x.lanes), rounded = bits + 0x7FFFu + ((bits >> 16) & 1u);
    return Native<S>((x.lanes == x.lanes ? rounded : bits | 0x400000u) & 0xFFFF0000u);
#endif
  }
  // exp(x), with a relative error below 2 epsilon. Returns 0 where the result is below about 1.4 times the smallest
  // normal number and infinity where it is above the largest. NaN propagates.
  static ALGOPERF_HD Vector<S> exp(Vector<S> x) {
#if ALGOPERF_IN_CUDA_FILE
    return Maths<S>::exp(x.lanes);
#else
    using V = Vector<S>;
    // Beyond this bound, n could not be represented as an exponent.
    x = math::min(V(S(bias + 2) * log2), x);
#if defined(__AVX512F__)
    const Reduced at = reduced(x);
    return scaled(slope(at.r) * at.r + V(S(1)), at.n);
#else
    // n is at least 1 - bias. The factor is 2^(n-1), which is then at least 0, and at most infinity.
    constexpr S least = S(1 - bias) * log2;
    const Reduced at = reduced(select(x < V(least), V(least), x));
    const V sum = slope(at.r) * at.r + V(S(1));
    return (sum + sum) * power_of_two(at, -1);
#endif
#endif
  }
#if !ALGOPERF_IN_CUDA_FILE
  // With a relative error below 3 epsilon. tanh(|x|) = e / (e + 2), where e = exp(2 |x|) - 1 is computed as
  // 2^n (exp(r) - 1) + 2^n - 1, which is accurate near 0 too.
  static ALGOPERF_HD Vector<S> tanh(Vector<S> x) {
    using V = Vector<S>;
    using Bits = typename V::NativeMask;
    constexpr S most = sizeof(S) == 4 ? 20 : 40;  // tanh(most / 2) rounds to 1
    const Bits sign = reinterpret_cast<Bits>(x.lanes) & reinterpret_cast<Bits>(V(S(-0.0)).lanes);
    const V absolute = abs(x);
    const Reduced at = reduced(math::min(V(most), absolute + absolute));
    const V power = power_of_two(at, 0), e = power * (slope(at.r) * at.r) + (power - V(S(1))), y = e / (e + V(S(2)));
    return reinterpret_cast<Native<S>>(reinterpret_cast<Bits>(y.lanes) ^ sign);
  }
#endif
#if !ALGOPERF_IN_CUDA_FILE
  static ALGOPERF_HD Vector<S> abs(Vector<S> x) {
    using Bits = typename Vector<S>::NativeMask;
    return reinterpret_cast<Native<S>>(reinterpret_cast<Bits>(x.lanes) &
                                       ~reinterpret_cast<Bits>(Vector<S>(S(-0.0)).lanes));
  }
#endif
#if defined(__AVX512F__) && !ALGOPERF_IN_CUDA_FILE
  // One instruction each instead of a comparison and a selection. (g++ 12 warns of the intrinsics without a mask.)
  static Vector<S> min(Vector<S> a, Vector<S> b) {
    if constexpr (sizeof(S) == 4)
      return Native<S>(_mm512_maskz_min_ps(0xFFFF, a.lanes, b.lanes));
    else
      return Native<S>(_mm512_maskz_min_pd(0xFF, a.lanes, b.lanes));
  }
  static Vector<S> max(Vector<S> a, Vector<S> b) {
    if constexpr (sizeof(S) == 4)
      return Native<S>(_mm512_maskz_max_ps(0xFFFF, a.lanes, b.lanes));
    else
      return Native<S>(_mm512_maskz_max_pd(0xFF, a.lanes, b.lanes));
  }
#endif
  static ALGOPERF_HD Vector<S> select(Mask condition, Vector<S> a, Vector<S> b) {
    return Native<S>(condition.lanes ? a.lanes : b.lanes);
  }

 private:
  template <class U>
  using Native = typename Vector<U>::Native;
#if !ALGOPERF_IN_CUDA_FILE
  static constexpr int mantissa = sizeof(S) == 4 ? 23 : 52, bias = sizeof(S) == 4 ? 127 : 1023;
  static constexpr S log2 = S(0.6931471805599453);

  // x = n log(2) + r, where n is an integer and |r| <= log(2) / 2.
  struct Reduced {
    Vector<S> rounded, n, r;  // the last bits of `rounded` hold n
  };
  static ALGOPERF_HD Reduced reduced(Vector<S> x) {
    using V = Vector<S>;
    constexpr S high = sizeof(S) == 4 ? S(0.693359375) : S(0.693145751953125);
    constexpr S low = sizeof(S) == 4 ? S(-2.12194440e-4) : S(1.42860682030941723212e-6);
    const V magic(S(1.5) * S(std::int64_t{1} << mantissa));  // adding it rounds to an integer
    const V rounded = x * V(S(1.4426950408889634)) + magic, n = rounded - magic;
    return {rounded, n, x - n * V(high) - n * V(low)};
  }
  // (exp(r) - 1) / r. For double, from the Taylor series of exp(r), whose first omitted term is below the last bit; for
  // float, from a polynomial that approximates exp(r) with a relative error of 3e-9 (tests/golden/make_exponential.py).
  static ALGOPERF_HD Vector<S> slope(Vector<S> r) {
    constexpr int terms = sizeof(S) == 4 ? 6 : 13;
    Vector<S> sum(coefficient(terms));
    for (int k = terms - 1; k >= 1; --k) sum = sum * r + Vector<S>(coefficient(k));
    return sum;
  }
  static constexpr S coefficient(int k) {
    if constexpr (sizeof(S) == 4) {
      constexpr float from_first[] = {1, 0.499999935f, 0.166665207f, 0.0416683874f, 0.00836870983f, 0.00138146131f};
      return from_first[k - 1];
    } else {
      double factorial = 1;
      for (; k > 1; --k) factorial *= k;
      return static_cast<S>(1 / factorial);
    }
  }
  // 2^(n + more), for n + more from -bias to bias + 1, which give 0 and infinity.
  static ALGOPERF_HD Vector<S> power_of_two(const Reduced& at, int more) {
    using Bits = std::conditional_t<sizeof(S) == 4, std::uint32_t, std::uint64_t>;
    typedef Bits Unsigned __attribute__((vector_size(native_vector_bytes)));
    const Unsigned exponent = reinterpret_cast<Unsigned>(at.rounded.lanes) + static_cast<Bits>(bias + more);
    return reinterpret_cast<Native<S>>(exponent << mantissa);
  }
#if defined(__AVX512F__)
  // Returns 2^n x, but 0 if n <= 1 - bias, where x may be anything. A NaN n counts as larger.
  static Vector<S> scaled(Vector<S> x, Vector<S> n) {
    const Vector<S> least(S(1 - bias));
    if constexpr (sizeof(S) == 4) {
      const __mmask16 above = _mm512_cmp_ps_mask(n.lanes, least.lanes, _CMP_NLE_UQ);
      return Native<S>(_mm512_maskz_scalef_ps(above, x.lanes, n.lanes));
    } else {
      const __mmask8 above = _mm512_cmp_pd_mask(n.lanes, least.lanes, _CMP_NLE_UQ);
      return Native<S>(_mm512_maskz_scalef_pd(above, x.lanes, n.lanes));
    }
  }
#endif
#endif
};

}  // namespace algoperf
