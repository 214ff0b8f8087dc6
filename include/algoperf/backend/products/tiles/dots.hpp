// Products with few rows or few columns whose terms are contiguous in both operands: dot products of a row of A and a
// column of B. They need neither copies nor broadcasts.
#pragma once

#include <bit>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "lanes.hpp"
#include "strips.hpp"

namespace algoperf::detail::tiled {
inline namespace ALGOPERF_SIMD {

// `rows` by `columns` dot products. The elements of a row of C are c_column apart. Lane i of a sum adds every n-th term
// from the i-th, in order.
template <class S, std::size_t rows, std::size_t columns>
[[gnu::noinline]] void dots(std::size_t k, const S* a, std::size_t lda, const S* b, std::size_t ldb, S* c,
                            std::size_t ldc, std::size_t c_column, bool add) {
  constexpr std::size_t n = width<S>, together = rows * columns < n ? std::bit_ceil(rows * columns) : n;
  constexpr std::size_t count = (rows * columns + together - 1) / together * together;  // the last stay zero
  Lanes<S> sum[count] = {};
  const auto add_terms = [&](const auto& load_at) ALGOPERF_INLINE_LAMBDA {
    Lanes<S> y[columns];
    ALGOPERF_UNROLL for (std::size_t j = 0; j < columns; ++j) {
      y[j] = load_at(b + j * ldb);
      if constexpr (rows > 1) keep_in_register<S>(y[j]);  // one row uses it once, as an operand in memory
    }
    ALGOPERF_UNROLL for (std::size_t i = 0; i < rows; ++i) {
      Lanes<S> x = load_at(a + i * lda);
      keep_in_register<S>(x);
      ALGOPERF_UNROLL for (std::size_t j = 0; j < columns; ++j) sum[i * columns + j] =
          add_product<S>(sum[i * columns + j], x, y[j]);
    }
  };
  std::size_t l = 0;
  ALGOPERF_UNROLL_TERMS for (; k - l >= n; l += n)
      add_terms([l](const S* from) ALGOPERF_INLINE_LAMBDA { return load(from + l); });
  if (l < k) add_terms([l, k](const S* from) ALGOPERF_INLINE_LAMBDA { return load_first(from + l, k - l); });
  S totals[count < n ? n : count];
  ALGOPERF_UNROLL for (std::size_t g = 0; g < count; g += together)
      store<S>(lane_sums<S, together>(sum + g), totals + g);
  ALGOPERF_UNROLL for (std::size_t i = 0; i < rows; ++i) {
    S* const to = c + i * ldc;
    if (add) ALGOPERF_UNROLL for (std::size_t j = 0; j < columns; ++j) totals[i * columns + j] += to[j * c_column];
    if (c_column == 1)
      std::memcpy(to, totals + i * columns, columns * sizeof(S));
    else
      ALGOPERF_UNROLL for (std::size_t j = 0; j < columns; ++j) to[j * c_column] = totals[i * columns + j];
  }
}

// The same, half of the columns at a time if their sums do not fit in the registers.
template <class S, std::size_t rows, std::size_t columns>
void dots_in_registers(std::size_t k, const S* a, std::size_t lda, const S* b, std::size_t ldb, S* c, std::size_t ldc,
                       std::size_t c_column, bool add) {
  if constexpr (rows * columns <= (many_registers ? 16 : 8)) {
    dots<S, rows, columns>(k, a, lda, b, ldb, c, ldc, c_column, add);
  } else {
    constexpr std::size_t half = columns / 2;
    dots_in_registers<S, rows, half>(k, a, lda, b, ldb, c, ldc, c_column, add);
    dots_in_registers<S, rows, half>(k, a, lda, b + half * ldb, ldb, c + half * c_column, ldc, c_column, add);
  }
}

template <class S, std::size_t columns>
void dots_of_columns(std::size_t m, std::size_t k, const S* a, std::size_t lda, const S* b, std::size_t ldb, S* c,
                     std::size_t ldc, std::size_t c_column, bool add) {
  std::size_t i = 0;
  const auto rows = [&]<std::size_t count>(std::integral_constant<std::size_t, count>) {
    dots_in_registers<S, count, columns>(k, a + i * lda, lda, b, ldb, c + i * ldc, ldc, c_column, add);
  };
  for (; m - i >= 4; i += 4) rows(std::integral_constant<std::size_t, 4>{});
  if (m - i == 3) return rows(std::integral_constant<std::size_t, 3>{});
  if (m - i == 2) return rows(std::integral_constant<std::size_t, 2>{});
  if (m - i == 1) rows(std::integral_constant<std::size_t, 1>{});
}

// Adding up the lanes of a dot product costs as much as about 50 terms. If rows of A or columns of B are not `aligned`
// to vectors, packing the few columns of B for tiles of at least 48 rows takes 0.4 to 0.9 of the time of dot products.
// Without many registers, dot products load six vectors for eight sums. Tiles are then faster where packing B costs
// little beside the product: for more than 20 rows, or for more than four and k / 20. Host gives no thread a part of C
// of fewer than 48 rows or columns unless the whole is as narrow, so the choice does not depend on the number of
// threads.
constexpr bool is_dot_products(std::size_t m, std::size_t n, std::size_t k, bool aligned) {
  if constexpr (many_registers) {
    const std::size_t few = m < n ? m : n;
    return (aligned || m < 48) && ((few <= 16 && k >= 64) || (few < 48 && k >= 256));
  }
  return k >= 64 && (m <= 4 || (m <= 20 && 20 * m <= k) || (n <= 6 && (aligned || m < 48)));
}

// Memory delivers a few streams that are far from each other faster than neighbouring columns. Products of one row with
// a B larger than the first-level cache take 0.5 to 0.95 of the time, and products of two to eight rows with a B of
// more than 8 MB take 0.7 to 1.
constexpr bool has_far_columns(std::size_t m, std::size_t bytes_of_b) {
  return bytes_of_b > (m == 1 ? std::size_t{1} << 15 : std::size_t{1} << 23) && m <= 8;
}

// Computes `together` columns at a time.
template <class S, std::size_t together>
void dots_by_columns(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda, const S* b,
                     std::size_t ldb, S* c, std::size_t ldc, bool add) {
  const std::size_t distance = n / together;
  std::size_t j = 0;
  if (has_far_columns(m, n * k * sizeof(S))) {
    for (; j < distance; ++j)
      dots_of_columns<S, together>(m, k, a, lda, b + j * ldb, distance * ldb, c + j, ldc, distance, add);
    j = distance * together;
  }
  for (; n - j >= together; j += together)
    dots_of_columns<S, together>(m, k, a, lda, b + j * ldb, ldb, c + j, ldc, 1, add);
  for (; j < n; ++j) dots_of_columns<S, 1>(m, k, a, lda, b + j * ldb, ldb, c + j, ldc, 1, add);
}

// Without many registers, the sums of one row and four columns would wait for each other.
template <class S>
void multiply_by_dots(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda, const S* b,
                      std::size_t ldb, S* c, std::size_t ldc, bool add) {
  if (!many_registers && m == 1)
    dots_by_columns<S, 8>(m, n, k, a, lda, b, ldb, c, ldc, add);
  else
    dots_by_columns<S, 4>(m, n, k, a, lda, b, ldb, c, ldc, add);
}

}  // namespace ALGOPERF_SIMD
}  // namespace algoperf::detail::tiled
