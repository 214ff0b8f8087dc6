// Products that are known to be symmetric, as A A^T is. C is n x n:
//   symmetric_nt  C = A B^T, A and B are n x k
//   symmetric_tn  C = A^T B, A and B are k x n
//   symmetric_nn  C = A B, A and B are n x n, symmetric, and commute
// A backend that has the first two as members, with these arguments, computes about half of C, which is then symmetric
// to the bit; others compute all of it, and are a rounding off.
#pragma once

#include <cstddef>

#include "../../core/config.hpp"

namespace algoperf {

template <class B, class S>
void symmetric_nt(const B& backend, std::size_t n, std::size_t k, const S* a, const S* b, S* c) {
  if constexpr (requires { backend.symmetric_nt(n, k, a, b, c); })
    backend.symmetric_nt(n, k, a, b, c);
  else
    backend.gemm_nt(n, n, k, a, b, c);
}
template <class B, class S>
void symmetric_tn(const B& backend, std::size_t n, std::size_t k, const S* a, const S* b, S* c) {
  if constexpr (requires { backend.symmetric_tn(n, k, a, b, c); })
    backend.symmetric_tn(n, k, a, b, c);
  else
    backend.gemm_tn(n, n, k, a, b, c);
}
// Of matrices that are symmetric but for roundings A B, not A B^T: Newton's iteration lets what is not symmetric die
// out by it.
template <class B, class S>
void symmetric_nn(const B& backend, std::size_t n, const S* a, const S* b, S* c) {
  if constexpr (requires { backend.symmetric_nt(n, n, a, b, c); })
    backend.symmetric_nt(n, n, a, b, c);
  else
    backend.gemm_nn(n, n, n, a, b, c);
}

namespace detail {

// c[i][j] = c[j][i] for i < j, in squares that caches hold.
template <class S>
void copy_below_diagonal(std::size_t n, S* c) {
  constexpr std::size_t side = 16;
  const auto end = [n](std::size_t begin) { return n - begin < side ? n : begin + side; };
  for (std::size_t rows = 0; rows < n; rows += side)
    for (std::size_t cols = 0; cols <= rows; cols += side)
      for (std::size_t j = rows; j < end(rows); ++j)
        for (std::size_t i = cols; i < end(cols) && i < j; ++i) c[i * n + j] = c[j * n + i];
}

}  // namespace detail

}  // namespace algoperf
