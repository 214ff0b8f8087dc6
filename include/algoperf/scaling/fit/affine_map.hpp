#pragma once

#include <array>
#include <cstddef>

#include "../../core/config.hpp"

namespace algoperf {

// The affine map s' = a s + b on vectors of N elements.
template <std::size_t N>
struct AffineMap {
  double a[N][N] = {}, b[N] = {};

  std::array<double, N> operator()(const std::array<double, N>& s) const {
    std::array<double, N> next;
    for (std::size_t i = 0; i < N; ++i) {
      next[i] = b[i];
      for (std::size_t j = 0; j < N; ++j) next[i] += a[i][j] * s[j];
    }
    return next;
  }

  // Returns the map applied twice: a a s + (a b + b). Repeated doubling gives the map of n steps in log2(n) such
  // products.
  AffineMap twice() const {
    AffineMap map;
    for (std::size_t i = 0; i < N; ++i) {
      map.b[i] = b[i];
      for (std::size_t j = 0; j < N; ++j) map.b[i] += a[i][j] * b[j];
      for (std::size_t k = 0; k < N; ++k)
        for (std::size_t j = 0; j < N; ++j) map.a[i][j] += a[i][k] * a[k][j];
    }
    return map;
  }
};

}  // namespace algoperf
