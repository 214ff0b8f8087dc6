// finite_bits: whether a value is finite, determined from its bits, because under -ffast-math the compiler may remove
// comparisons with NaN.
#pragma once

#include <cstdint>

#include "config.hpp"
#include "half.hpp"

namespace algoperf::detail {

ALGOPERF_HD bool finite_bits(double x) {
  std::uint64_t bits = 0;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return (bits >> 52 & 0x7FF) != 0x7FF;
}
ALGOPERF_HD bool finite_bits(float x) { return (bits_of(x) >> 23 & 0xFF) != 0xFF; }
ALGOPERF_HD bool finite_bits(bfloat16 x) { return x.is_finite(); }
ALGOPERF_HD bool finite_bits(float16 x) { return x.is_finite(); }

}  // namespace algoperf::detail
