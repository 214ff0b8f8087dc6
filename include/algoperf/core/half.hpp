// bfloat16 and float16: 16-bit storage types for values that are computed in float. The conversion to float is implicit
// and exact. The conversion from float is explicit and rounds to nearest, ties to even.
#pragma once

#include <cstdint>

#include "config.hpp"

namespace algoperf {

namespace detail {

ALGOPERF_HD float float_of(std::uint32_t bits) {
  float x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}
ALGOPERF_HD std::uint32_t bits_of(float x) {
  std::uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}

}  // namespace detail

// How floats are rounded to 16 bits: to nearest, or randomly up or down such that the expected value is exact.
enum class Rounding { nearest, stochastic };

// The upper half of a float: 8 exponent bits, 7 mantissa bits.
struct bfloat16 {
  std::uint16_t bits;

  bfloat16() = default;
  ALGOPERF_HD explicit bfloat16(float x) : bits(round(x)) {}
  ALGOPERF_HD operator float() const { return detail::float_of(std::uint32_t{bits} << 16); }
  ALGOPERF_HD bool is_finite() const { return (bits & 0x7F80u) != 0x7F80u; }

 private:
  ALGOPERF_HD static std::uint16_t round(float x) {
    const std::uint32_t b = detail::bits_of(x);
    if (x != x) return static_cast<std::uint16_t>((b >> 16) | 0x40u);
    return static_cast<std::uint16_t>((b + 0x7FFFu + ((b >> 16) & 1u)) >> 16);
  }
};

// IEEE 754 binary16: 5 exponent bits, 10 mantissa bits. The largest value is 65504, the smallest positive one 2^-24.
struct float16 {
  std::uint16_t bits;

  float16() = default;
  ALGOPERF_HD explicit float16(float x) : bits(round(x)) {}
  ALGOPERF_HD operator float() const {
    const std::uint32_t sign = (bits & 0x8000u) << 16, magnitude = bits & 0x7FFFu, exponent = magnitude >> 10;
    if (exponent == 0) return detail::float_of(sign | detail::bits_of(static_cast<float>(magnitude) * 0x1p-24f));
    const std::uint32_t offset = exponent == 31 ? 224u : 112u;  // 224 preserves infinity and NaN
    return detail::float_of(sign | ((magnitude << 13) + (offset << 23)));
  }
  ALGOPERF_HD bool is_finite() const { return (bits & 0x7C00u) != 0x7C00u; }

 private:
  ALGOPERF_HD static std::uint16_t round(float x) {
    const std::uint32_t b = detail::bits_of(x), sign = (b >> 16) & 0x8000u, magnitude = b & 0x7FFFFFFFu;
    std::uint32_t half;
    if (magnitude > 0x7F800000u) {
      half = 0x7E00u;  // NaN
    } else if (magnitude >= 0x477FF000u) {
      half = 0x7C00u;  // 65520 and above
    } else if (magnitude < 0x38800000u) {
      // Below 2^-14, the result is denormal. Adding 1/2 rounds its bits into the lowest bits of the float.
      half = detail::bits_of(detail::float_of(magnitude) + 0.5f) - 0x3F000000u;
    } else {
      half = (magnitude - 0x38000000u + 0xFFFu + ((magnitude >> 13) & 1u)) >> 13;
    }
    return static_cast<std::uint16_t>(sign | half);
  }
};

namespace detail {

template <class S>
struct ArithmeticOf {
  using type = S;
};
template <>
struct ArithmeticOf<bfloat16> {
  using type = float;
};
template <>
struct ArithmeticOf<float16> {
  using type = float;
};

}  // namespace detail

// The type in which values stored as S are computed.
template <class S>
using Arithmetic = typename detail::ArithmeticOf<S>::type;

}  // namespace algoperf
