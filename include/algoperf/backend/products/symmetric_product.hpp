// Matrix products whose result is known to be symmetric, such as A A^T. C is n x n:
//   symmetric_nt  C = A B^T, A and B are n x k
//   symmetric_tn  C = A^T B, A and B are k x n
//   symmetric_nn  C = A B, A and B are n x n, symmetric, and commute
// A backend with the first two as members, with these arguments, computes about half of C and mirrors it, so that C
// is exactly symmetric. Other backends compute all of C, which is then symmetric up to rounding.
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
// The fallback computes A B, not A B^T. If the operands are symmetric only up to rounding, the asymmetry then decays
// over the steps of a Newton iteration.
template <class B, class S>
void symmetric_nn(const B& backend, std::size_t n, const S* a, const S* b, S* c) {
  if constexpr (requires { backend.symmetric_nt(n, n, a, b, c); })
    backend.symmetric_nt(n, n, a, b, c);
  else
    backend.gemm_nn(n, n, n, a, b, c);
}

namespace detail {

// c[i][j] = c[j][i] for i < j, in squares that fit in cache.
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
