// Panels of a matrix product: the parts that several threads of Host compute.
#pragma once

#include <cstddef>

#include "../../core/math.hpp"
#include "../products/gemm.hpp"
#include "../products/symmetric_product.hpp"
#include "thread_pool.hpp"

namespace algoperf::detail {

// The least FLOPs and the least rows or columns of a panel: a smaller one costs more than it saves.
inline constexpr std::size_t flops_per_panel = 1 << 18;
inline constexpr std::size_t side_per_panel = 64;

// For providers whose rounding depends on the size of a product. The panels are the same for every number of threads.
inline constexpr std::size_t most_fixed_panels = 8;
inline constexpr std::size_t flops_per_fixed_panel = 1 << 23;

// Calls f(first row, rows, first column, columns) for panels of C [m][n], which divide the longer side, so that the
// panels share the smaller operand. If an element of C has the same bits in every panel (gemm_column_step > 0), there
// is at most one panel per thread, because every panel costs packing. oneDNN and CBLAS choose their kernels by the size
// of the panel, so their panels depend on m, n and k alone.
template <class S, class F>
void for_each_panel(unsigned threads, std::size_t m, std::size_t n, std::size_t k, const F& f) {
  if (m == 0 || n == 0) return;
  const bool by_rows = m >= n;
  const std::size_t columns = gemm_column_step<S>();
  const std::size_t side = by_rows ? m : n, step = by_rows || columns == 0 ? 16 : columns;
  const std::size_t most = columns == 0 ? most_fixed_panels : threads;
  const std::size_t flops = columns == 0 ? flops_per_fixed_panel : flops_per_panel;
  const std::size_t count = math::min(most, math::min(side / side_per_panel, 2 * m * n * k / flops));
  if (count <= 1) return f(std::size_t{0}, m, std::size_t{0}, n);
  const auto begin_of = [&](std::size_t i) { return i == count ? side : (i * side / count + step / 2) / step * step; };
  ThreadPool::instance().parallel_for(threads, count, [&](std::size_t i) {
    const std::size_t begin = begin_of(i), end = begin_of(i + 1);
    if (by_rows)
      f(begin, end - begin, std::size_t{0}, n);
    else
      f(std::size_t{0}, m, begin, end - begin);
  });
}

// Calls f(first column, columns) for blocks of 32 to 128 columns of a symmetric C [n][n]. f computes the rows of these
// columns from the first column on. The elements above the diagonal are then copied from below it. One thread computes
// all blocks of a small product.
template <class S, class F>
void for_each_block_below_diagonal(unsigned threads, std::size_t n, std::size_t k, S* c, const F& f) {
  const std::size_t eighth = n / 8 / 32 * 32, width = eighth < 32 ? 32 : eighth < 128 ? eighth : 128;
  const auto block = [&](std::size_t i) { f(i * width, n - i * width < width ? n - i * width : width); };
  const bool small = n * n * k < flops_per_fixed_panel;
  ThreadPool::instance().parallel_for(small ? 1 : threads, (n + width - 1) / width, block);
  copy_below_diagonal(n, c);
}

}  // namespace algoperf::detail
