// Implements gemm.hpp without another library. C is split into tiles whose sums stay in registers (tiles/tile.hpp). The
// terms of a product are added in parts of at most 512, or 256 without AVX-512; for each part and each block of
// columns, C is computed from the first row down.
//
// - B is read in place if its rows are contiguous, A has few enough rows (with AVX-512, 512; otherwise 17, 36 panel by
//   panel, or more if B's rows are short or few, see tiles/pack.hpp), and the rows of B do not compete for lines of the
//   second-level cache (or A has few rows). Otherwise a block of B is packed into panels before it is used. Without
//   AVX-512, a block is one panel if A has at most 72 rows, B's columns are contiguous and have at least 192 terms in a
//   part, and B has at most 4 MB. With AVX-512, if the rows of B are contiguous, the tiles of the first rows of A pack
//   what they read instead, so that packing costs no pass of its own. A last panel that is not whole is always packed
//   before, unless, without AVX-512, it has more than one vector.
// - A is packed, a group of strips (rows of tiles) at a time, if two conditions hold. Its rows are a multiple of 1 KB
//   apart or, if they are not contiguous, its columns at least 512 bytes (AVX-512: 1 KB): they would compete for lines
//   of the cache. And each group is used for more than two panels of B. Without AVX-512, 31 terms or fewer are never
//   packed. If B is read in place panel by panel, A is packed once, before the first panel, and only if one group has
//   all its rows.
// - Without AVX-512, tiles that read packed panels of B prefetch the next strip of a large A whose rows are contiguous,
//   or the rows of the next group that will be packed. They also prefetch the next tile of a large C
//   (tiles/prefetch.hpp).
// - An A of more than 4 MB whose rows are not contiguous is prefetched by the tiles that read A and B in place, two
//   vectors of columns at a time, unless they have few rows.
// - If B's rows are contiguous and B has at least 2 MB, or 4 MB for one row of A, products of at most three rows read B
//   along its rows (tiles/stretches.hpp).
// - If C is one contiguous column, it is computed as a row.
// - Products with few rows or few columns and contiguous terms are dot products (tiles/dots.hpp), unless A has many
//   rows and vectors would straddle lines of the cache.
// - If the columns of C fit in one vector, tiles have one vector of columns (tiles/narrow.hpp). With AVX-512, at most
//   12 columns (double: 6), at least 48 rows and 32 terms, and contiguous columns of A, C is computed as the transpose
//   of B^T A^T.
//
// Except in dot products, each element of C is the sum of its terms in order, in parts, independent of where a tile, a
// panel or a thread's part of C begins. Dividing C among threads does not change whether a product consists of dot
// products or is transposed. The result is therefore the same, bit for bit, for any number of threads. A bias is added
// to the first part of the sum if tiles read it with panels of B, and to the whole sum otherwise. Each thread allocates
// about 0.7 MB for a scalar type when it first needs panels or sums.
#pragma once

#define ALGOPERF_GEMM_CHOSEN  // keeps gemm.hpp from including another implementation

#include <cstddef>
#include <cstring>

#include "../../core/map_kernels.hpp"
#include "../serial_team.hpp"
#include "gemm.hpp"
#include "tiles/block.hpp"
#include "tiles/dots.hpp"
#include "tiles/lanes.hpp"
#include "tiles/narrow.hpp"
#include "tiles/pack.hpp"
#include "tiles/prefetch.hpp"
#include "tiles/stretches.hpp"
#include "tiles/strips.hpp"
#include "tiles/tile.hpp"

namespace algoperf {
namespace detail::tiled {
inline namespace ALGOPERF_SIMD {

// Adds `depth` terms of a product to C, or overwrites it with their sum and the bias, if any.
template <class S>
void multiply_part(std::size_t m, std::size_t n, std::size_t depth, const Strided<const S>& a,
                   const Strided<const S>& b, const S* bias, S* c, std::size_t ldc, bool add, bool a_in_cache,
                   std::size_t bytes_of_b) {
  constexpr std::size_t distance = many_registers ? 1024 : 512;  // of columns, in bytes
  const bool contiguous = a.column == 1, rows_of_b = b.column == 1;
  const bool by_panels = is_read_by_panels(m, depth, b, bytes_of_b);
  const bool in_place = by_panels || is_read_in_place(m, depth, b);
  const bool packs = many_registers && !in_place && rows_of_b;
  const bool far_apart = (many_registers || depth >= 32) &&
                         (contiguous ? a.row * sizeof(S) % 1024 == 0 : a.column * sizeof(S) >= distance);
  const bool one_panel = by_panels || (!rows_of_b && is_packed_by_panels(m, depth, bytes_of_b));
  const std::size_t most = one_panel ? line<S> : block_columns<S>(m, depth);
  // With many rows, the first of them bring B to the cache for the others. On Zen 3, prefetching B did not help.
  const bool near = many_registers && in_place && bytes_of_b <= most_in_cache && depth >= 32 && m <= 2 * tile_rows;
  const std::size_t rows_ahead = near ? 4 : 0;
  const bool prefetches = prefetches_a<S>(m, depth, a_in_cache);
  const std::size_t strips = strips_of_group(contiguous), group_rows = strips * tile_rows;
  for (std::size_t j = 0; j < n; j += most) {
    const std::size_t columns = n - j < most ? n - j : most;
    const std::size_t rest = columns % line<S>, packed_rest = many_registers || rest <= width<S> ? rest : 0;
    const std::size_t not_packed = in_place || packs ? columns - packed_rest : 0;  // before tiles run
    Block<S> block{.columns = columns,
                   .in_place = not_packed,
                   .b = b.from(0, j).data,
                   .b_row = b.row,
                   .panels = not_packed < columns || !in_place ? Packed<S>::of_this_thread().b : nullptr,
                   .packs = packs && not_packed > 0,
                   .bias = bias == nullptr ? nullptr : bias + j,
                   .prefetches_c = prefetches_c<S>(m, n, depth)};
    if (!rows_of_b)
      pack_columns(depth, columns, b.from(0, j), block.panels);
    else if (not_packed < columns)
      pack_rows(depth, columns - not_packed, b.from(0, j + not_packed), block.panels + not_packed * depth);
    const std::size_t panels = (columns + line<S> - 1) / line<S>;
    // If B is read panel by panel, A is packed once, before the first panel.
    const bool packs_a = far_apart && (by_panels ? n : columns) > 2 * line<S> && (!by_panels || m <= group_rows);
    NextRows<S> next(a, depth);
    if (!packs_a) {
      TileTerms part{.depth = depth,
                     .a_row = a.row,
                     .a_column = a.column,
                     .ldc = ldc,
                     .add = add || bias != nullptr,
                     .rows_ahead = rows_ahead,
                     .a_is_far = !contiguous && !a_in_cache};
      for (std::size_t i = 0, rows; i < m; i += rows) {
        rows = rows_of_strip(m - i);
        if (prefetches && contiguous && m - i > rows)
          next.set(a.from(i + rows, 0).data, rows_of_strip(m - i - rows), panels);
        strip(part, rows, a.from(i, 0).data, block, next, c + i * ldc + j);
      }
      continue;
    }
    S* const packed = Packed<S>::of_this_thread().a;
    TileTerms part{.depth = depth,
                   .a_row = contiguous ? row_step<S> : 1,
                   .a_column = contiguous ? 1 : tile_rows,
                   .ldc = ldc,
                   .add = add || bias != nullptr,
                   .rows_ahead = rows_ahead};
    for (std::size_t i = 0, rows; i < m;) {
      const std::size_t end = by_panels && j > 0 ? m : i + pack_group(m - i, depth, a.from(i, 0), packed);
      if (prefetches && end < m)
        next.set(a.from(end, 0).data, m - end < group_rows ? m - end : group_rows, strips * panels);
      for (S* from = packed; i < end; i += rows, from += tile_rows * row_step<S>) {
        rows = rows_of_strip(m - i);
        strip<S>(part, rows, from, block, next, c + i * ldc + j);
      }
    }
  }
}

// Computes k terms of a product. `bias`, if not null, is added to every row of C. It requires that `add` is false and
// that B's rows are not contiguous, because only tiles that read panels add it.
template <class S>
void multiply_parts(std::size_t m, std::size_t n, std::size_t k, const Strided<const S>& a, const Strided<const S>& b,
                    S* c, std::size_t ldc, bool add, const S* bias = nullptr) {
  const std::size_t bytes_of_b = k * n * sizeof(S);
  const bool a_in_cache = k * m * sizeof(S) <= most_in_cache;
  const bool along_rows = m <= 3 && b.column == 1 && bytes_of_b >= (m == 1 ? most_in_cache : most_in_cache / 2);
  for (std::size_t parts = parts_of(k), l = 0; parts > 0; --parts) {
    const std::size_t depth = (k - l) / parts;
    const Strided<const S> of_a = a.from(0, l), of_b = b.from(l, 0);
    const bool adds = add || l > 0;
    std::size_t j = 0;
    if (along_rows)
      j = stretches({.depth = depth, .a_row = a.row, .a_column = a.column, .ldc = ldc, .add = adds}, m, n, of_a.data,
                    of_b.data, b.row, c);
    if (j < n)
      multiply_part(m, n - j, depth, of_a, of_b.from(0, j), l == 0 ? bias : nullptr, c + j, ldc, adds, a_in_cache,
                    bytes_of_b);
    l += depth;
  }
}

// With at most 3/4 of a vector of columns, transposing C costs less than it saves. As with dot products, the choice
// does not depend on the number of threads.
template <class S>
inline constexpr std::size_t most_transposed = width<S> * 3 / 4;
template <class S>
constexpr bool is_transposed_product(std::size_t m, std::size_t n, std::size_t k) {
  return many_registers && n <= most_transposed<S> && m >= 48 && k >= 32;
}

// Computes C^T = B^T A^T, whose rows are long, and transposes it into C. The columns of A are contiguous, and n is at
// most most_transposed.
template <class S>
void multiply_transposed(std::size_t m, std::size_t n, std::size_t k, const Strided<const S>& a,
                         const Strided<const S>& b, S* c, std::size_t ldc, bool add) {
  constexpr std::size_t lanes = width<S>, most = 16 * lanes;
  S sums[most_transposed<S> * most];
  for (std::size_t i = 0, rows; i < m; i += rows) {
    rows = m - i < most ? m - i : most;
    multiply_parts(n, rows, k, b.transposed(), a.from(i, 0).transposed(), sums, rows, false);
    for (std::size_t r = 0; r < rows; r += lanes) {
      const std::size_t some = rows - r < lanes ? rows - r : lanes;
      Lanes<S> square[lanes] = {};
      ALGOPERF_UNROLL for (std::size_t j = 0; j < most_transposed<S>; ++j) if (j < n) square[j] =
          load_first(sums + j * rows + r, some);
      transpose<S>(square);
      ALGOPERF_UNROLL for (std::size_t q = 0; q < lanes; ++q) if (q < some) {
        S* const to = c + (i + r + q) * ldc;
        store_first<S>(add ? load_first(to, n) + square[q] : square[q], to, n);
      }
    }
  }
}

// C = A B, plus C if `add`, or plus `bias`, if not null, in each row. Tiles that read panels of packed columns of B add
// the bias before they write C. After other products, a pass over C adds it.
template <class S>
void multiply(std::size_t m, std::size_t n, std::size_t k, const Strided<const S>& a, const Strided<const S>& b, S* c,
              std::size_t ldc, bool add, const S* bias = nullptr) {
  const bool aligned = (a.row | b.column) * sizeof(S) % native_vector_bytes == 0;
  if (k == 0) {  // A and B may be null
    for (std::size_t i = 0; !add && n > 0 && i < m; ++i) std::memset(c + i * ldc, 0, n * sizeof(S));
  } else if (n == 1 && ldc == 1 && m > 1) {  // a column as a row
    multiply(1, m, k, b.transposed(), a.transposed(), c, m, add);
  } else if (a.column == 1 && b.row == 1 && is_dot_products(m, n, k, aligned)) {
    multiply_by_dots(m, n, k, a.data, a.row, b.data, b.column, c, ldc, add);
  } else if (n > width<S>) {
    if (b.column > 1) return multiply_parts(m, n, k, a, b, c, ldc, add, bias);
    multiply_parts(m, n, k, a, b, c, ldc, add);
  } else if (is_transposed_product<S>(m, n, k) && a.row == 1) {
    multiply_transposed(m, n, k, a, b, c, ldc, add);
  } else {
    multiply_narrow(m, n, k, a, b, c, ldc, add);
  }
  if (bias == nullptr) return;
  for (std::size_t i = 0; i < m; ++i) SerialTeam{}.map(Add{}, n, c + i * ldc, bias);
}

}  // namespace ALGOPERF_SIMD
}  // namespace detail::tiled

// A multiple of two vectors, the width of a tile, for every instruction set.
template <class S>
std::size_t gemm_column_step() {
  return 32;
}

template <class S>
void gemm_nn(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda, const S* b, std::size_t ldb,
             S* c, std::size_t ldc, bool accumulate) {
  detail::tiled::multiply<S>(m, n, k, {a, lda, 1}, {b, ldb, 1}, c, ldc, accumulate);
}
template <class S>
void gemm_nt(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda, const S* b, std::size_t ldb,
             S* c, std::size_t ldc, bool accumulate) {
  detail::tiled::multiply<S>(m, n, k, {a, lda, 1}, {b, 1, ldb}, c, ldc, accumulate);
}
template <class S>
void gemm_nt_bias(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda, const S* b, std::size_t ldb,
                  const S* bias, S* c, std::size_t ldc) {
  detail::tiled::multiply<S>(m, n, k, {a, lda, 1}, {b, 1, ldb}, c, ldc, false, bias);
}
template <class S>
void gemm_tn(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda, const S* b, std::size_t ldb,
             S* c, std::size_t ldc, bool accumulate) {
  detail::tiled::multiply<S>(m, n, k, {a, 1, lda}, {b, ldb, 1}, c, ldc, accumulate);
}

}  // namespace algoperf
