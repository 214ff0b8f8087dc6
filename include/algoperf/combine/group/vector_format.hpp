#pragma once

#include <cstddef>
#include <cstdint>

#include "../../core/half.hpp"

namespace algoperf {

// How the elements of the vectors that ranks exchange are stored: as they are, or rounded to 16 bits, to nearest, which
// halves the bytes of floats. The largest float16 is 65504; magnitudes of 65520 or more become infinite.
enum class VectorFormat { full, bfloat16, float16 };

namespace detail {

// Calls f with a value of the 16-bit type. The format is not `full`.
template <class F>
void with_format(VectorFormat format, const F& f) {
  if (format == VectorFormat::bfloat16)
    f(bfloat16{});
  else
    f(float16{});
}

// Rounds the elements of x to the format.
template <class S>
void round_to(VectorFormat format, std::size_t n, S* x) {
  if (format == VectorFormat::full) return;
  with_format(format, [&]<class H>(H) {
    for (std::size_t i = 0; i < n; ++i)
      x[i] = static_cast<S>(static_cast<float>(static_cast<H>(static_cast<float>(x[i]))));
  });
}

// Writes the bits of the elements of x in the format, or reads them.
template <class S>
void pack(VectorFormat format, std::size_t n, const S* x, std::uint16_t* bits) {
  with_format(format, [&]<class H>(H) {
    for (std::size_t i = 0; i < n; ++i) bits[i] = static_cast<H>(static_cast<float>(x[i])).bits;
  });
}
template <class S>
void unpack(VectorFormat format, std::size_t n, const std::uint16_t* bits, S* x) {
  with_format(format, [&]<class H>(H element) {
    for (std::size_t i = 0; i < n; ++i) {
      element.bits = bits[i];
      x[i] = static_cast<S>(static_cast<float>(element));
    }
  });
}

}  // namespace detail

}  // namespace algoperf
