// Slots and Sums: small fixed-size arrays. Kernels keep Slots per parameter and measure Sums per tensor.
#pragma once

#include <cstddef>

#include "config.hpp"

namespace algoperf {

// N state values of one parameter, held in registers while a kernel runs: s[0], s[1], ...
template <class T, std::size_t N>
struct Slots {
  T values[N];
  ALGOPERF_HD constexpr T& operator[](std::size_t i) { return values[i]; }
  ALGOPERF_HD constexpr const T& operator[](std::size_t i) const { return values[i]; }
};

template <class T>
struct Slots<T, 0> {};

// N terms that a measuring stage sums over a tensor or over all parameters.
template <class T, std::size_t N>
using Sums = Slots<T, N>;

}  // namespace algoperf
