#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "../../core/config.hpp"

namespace algoperf {

// Solves a x = b by Gaussian elimination, with the largest pivot of each column. Returns false if a is singular to
// rounding.
template <std::size_t N>
bool solve(std::array<std::array<double, N>, N> a, std::array<double, N> b, std::array<double, N>& x) {
  std::array<double, N> largest = {};  // in each column
  for (const auto& row : a)
    for (std::size_t k = 0; k < N; ++k) largest[k] = std::fmax(largest[k], std::fabs(row[k]));
  for (std::size_t k = 0; k < N; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < N; ++i)
      if (std::fabs(a[i][k]) > std::fabs(a[pivot][k])) pivot = i;
    if (!(std::fabs(a[pivot][k]) > 1e-14 * largest[k])) return false;
    std::swap(a[k], a[pivot]);
    std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < N; ++i) {
      const double factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j < N; ++j) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t i = N; i-- > 0;) {
    x[i] = b[i];
    for (std::size_t j = i + 1; j < N; ++j) x[i] -= a[i][j] * x[j];
    x[i] /= a[i][i];
  }
  return true;
}

}  // namespace algoperf
