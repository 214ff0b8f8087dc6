// Slots and Sums: the small fixed arrays that kernels keep per parameter and measure per tensor.
#pragma once

#include <cstddef>

#include "config.hpp"

namespace algoperf {

// N values of one parameter's state, in registers while a kernel runs: s[0], s[1], ...
template <class T, std::size_t N>
struct Slots {
  T values[N];
  ALGOPERF_HD constexpr T& operator[](std::size_t i) { return values[i]; }
  ALGOPERF_HD constexpr const T& operator[](std::size_t i) const { return values[i]; }
};

template <class T>
struct Slots<T, 0> {};

// N terms that a measuring stage adds up over a tensor or over all parameters.
template <class T, std::size_t N>
using Sums = Slots<T, N>;

}  // namespace algoperf
