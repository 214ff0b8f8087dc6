#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "config.hpp"

namespace algoperf {

// to[i] = static_cast<To>(from[i]) for i in [0, n). Elements of one type are copied as bytes: g++ makes no vector
// instructions of the loop at -O2.
template <class From, class To>
void copy_as(std::size_t n, const From* from, To* to) {
  if constexpr (std::is_same_v<From, To> && std::is_trivially_copyable_v<From>) {
    if (n > 0) std::memcpy(to, from, n * sizeof(From));
  } else {
    for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<To>(from[i]);
  }
}

}  // namespace algoperf
