// Implements gemm.hpp without another library. C is split into tiles of a few rows by two vectors, whose sums stay in
// registers for all terms of a panel. Each term loads two vectors of B and, for each row, broadcasts one element of
// A. B is packed into a panel two vectors wide on the stack. A product A B^T with few rows is computed as the
// transpose of B A^T, so that the smaller matrix is transposed.
//
// Each element of C is the sum of its terms in order, in parts of at most `panel_depth` terms. The result is
// therefore independent, bit for bit, of where a tile, a panel or a thread's part of C begins. Nothing is allocated;
// the stack holds one panel, of 64 KB with AVX-512.
#pragma once

#define ALGOPERF_GEMM_CHOSEN  // keeps gemm.hpp from including another implementation

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include "../host/vector.hpp"
#include "gemm.hpp"

namespace algoperf {
namespace detail::tiled {

template <class S>
inline constexpr std::size_t width = Vector<S>::width;
template <class S>
using Lanes = typename Vector<S>::Native;

// The sums of this many rows by two vectors, two vectors of B and one of A fit in the 32 registers of AVX-512, or in
// the 16 of other instruction sets.
inline constexpr std::size_t tile_rows = native_vector_bytes == 64 ? 12 : 6;
inline constexpr std::size_t panel_depth = 512;
inline constexpr std::size_t block_rows = 480;  // rows of A that stay in cache from one panel to the next

template <class F, std::size_t... i>
[[gnu::always_inline]] inline void each(std::index_sequence<i...>, const F& f) {
  (f(std::integral_constant<std::size_t, i>{}), ...);
}
// Calls f(0), ..., f(n - 1) with compile-time constants as arguments. This unrolls the loop even at -O1.
template <std::size_t n, class F>
[[gnu::always_inline]] inline void each(const F& f) {
  each(std::make_index_sequence<n>{}, f);
}

template <class S>
[[gnu::always_inline]] inline Lanes<S> load(const S* from) {
  Lanes<S> lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}
template <class S>
[[gnu::always_inline]] inline void store(Lanes<S> lanes, S* to) {
  std::memcpy(to, &lanes, sizeof lanes);
}

// A matrix whose element (i, j) is data[i * row + j * column].
template <class S>
struct Strided {
  S* data;
  std::size_t row, column;
  Strided from(std::size_t i, std::size_t j) const { return {data + i * row + j * column, row, column}; }
};

// Transposes a square block of n vectors of n lanes. For each bit of a lane index, it interleaves the lanes of the
// first half of the vectors with those of the second half.
template <class S, std::size_t... i>
[[gnu::always_inline]] inline void transpose(Lanes<S>* v, std::index_sequence<i...>) {
  constexpr std::size_t n = width<S>;
  for (std::size_t bit = 1; bit < n; bit *= 2) {
    Lanes<S> next[n];
    each<n / 2>([&](auto k) {
      next[2 * k] = __builtin_shufflevector(v[k], v[k + n / 2], (i % 2 * n + i / 2)...);
      next[2 * k + 1] = __builtin_shufflevector(v[k], v[k + n / 2], (i % 2 * n + n / 2 + i / 2)...);
    });
    each<n>([&](auto k) { v[k] = next[k]; });
  }
}

// Packs `depth` rows of B into `panel`. Columns past the last of B are zero. The rows or the columns of B are
// contiguous.
template <class S, std::size_t vectors>
void copy_panel(std::size_t depth, std::size_t columns, Strided<const S> b, S* panel) {
  constexpr std::size_t n = width<S>, line = vectors * n;
  if (b.column == 1) {
    if (columns < line) std::memset(panel, 0, depth * line * sizeof(S));
    for (; depth > 0; --depth, b.data += b.row, panel += line)
      if (columns == line)
        std::memcpy(panel, b.data, line * sizeof(S));
      else
        std::memcpy(panel, b.data, columns * sizeof(S));
    return;
  }
  for (; depth >= n; depth -= n, b.data += n, panel += n * line)
    for (std::size_t v = 0; v < vectors; ++v) {
      Lanes<S> square[n];
      each<n>([&](auto j) { square[j] = v * n + j < columns ? load(b.data + (v * n + j) * b.column) : Lanes<S>{}; });
      transpose<S>(square, std::make_index_sequence<n>{});
      each<n>([&](auto l) { store<S>(square[l], panel + l * line + v * n); });
    }
  for (std::size_t j = 0; j < line; ++j)
    for (std::size_t l = 0; l < depth; ++l) panel[l * line + j] = j < columns ? b.data[l + j * b.column] : S(0);
}

// Computes a tile of C with `rows` rows and `columns` columns, at most `vectors` vectors wide. The rows of A are
// contiguous if contiguous_rows is true, otherwise its columns are.
template <class S, std::size_t rows, std::size_t vectors, bool contiguous_rows>
[[gnu::noinline]] void tile(std::size_t columns, std::size_t depth, Strided<const S> a, const S* panel, Strided<S> c,
                            bool add) {
  constexpr std::size_t n = width<S>, line = vectors * n;
  Lanes<S> sum[rows][vectors] = {};
  // One pointer per three rows: addressing modes add the row distance once or twice at no cost.
  const S* third[(rows + 2) / 3];
  each<(rows + 2) / 3>([&](auto i) { third[i] = a.data + 3 * i * a.row; });
  for (; depth > 0; --depth, panel += line) {
    Lanes<S> b[vectors];
    each<vectors>([&](auto v) { b[v] = load(panel + v * n); });
    each<rows>([&](auto i) {
      const Lanes<S> x = (contiguous_rows ? third[i / 3][i % 3 * a.row] : a.data[i]) - Lanes<S>{};
      each<vectors>([&](auto v) { sum[i][v] = sum[i][v] + x * b[v]; });
    });
    if constexpr (contiguous_rows)
      each<(rows + 2) / 3>([&](auto i) { ++third[i]; });
    else
      a.data += a.column;
  }
  if (c.column == 1 && columns == line) {
    if (add)
      each<rows>(
          [&](auto i) { each<vectors>([&](auto v) { sum[i][v] = load(c.data + i * c.row + v * n) + sum[i][v]; }); });
    each<rows>([&](auto i) { each<vectors>([&](auto v) { store<S>(sum[i][v], c.data + i * c.row + v * n); }); });
    return;
  }
  S numbers[rows][line];
  each<rows>([&](auto i) { each<vectors>([&](auto v) { store<S>(sum[i][v], numbers[i] + v * n); }); });
  if (c.column == 1 && !add) {
    for (std::size_t i = 0; i < rows; ++i) std::memcpy(c.data + i * c.row, numbers[i], columns * sizeof(S));
    return;
  }
  for (std::size_t j = 0; j < columns; ++j)
    for (std::size_t i = 0; i < rows; ++i) {
      S& to = c.data[i * c.row + j * c.column];
      to = add ? to + numbers[i][j] : numbers[i][j];
    }
}

// Computes the columns of C that belong to one panel, with the largest tiles first.
template <class S, std::size_t vectors, bool contiguous_rows, std::size_t rows = tile_rows>
void tiles(std::size_t m, std::size_t columns, std::size_t depth, Strided<const S> a, const S* panel, Strided<S> c,
           bool add) {
  std::size_t i = 0;
  for (; m - i >= rows; i += rows)
    tile<S, rows, vectors, contiguous_rows>(columns, depth, a.from(i, 0), panel, c.from(i, 0), add);
  constexpr std::size_t fewer = rows > 4 ? rows - 4 : rows / 2;
  if constexpr (fewer > 0)
    if (i < m) tiles<S, vectors, contiguous_rows, fewer>(m - i, columns, depth, a.from(i, 0), panel, c.from(i, 0), add);
}

template <class S, std::size_t vectors, bool contiguous_rows>
void one_panel(std::size_t m, std::size_t columns, std::size_t depth, Strided<const S> a, Strided<const S> b,
               Strided<S> c, bool add) {
  alignas(native_vector_bytes) S panel[panel_depth * vectors * width<S>];
  copy_panel<S, vectors>(depth, columns, b, panel);
  tiles<S, vectors, contiguous_rows>(m, columns, depth, a, panel, c, add);
}

// Adds `depth` terms of a product. If at most one vector of columns remains, the panel is one vector wide.
template <class S, bool contiguous_rows>
void terms(std::size_t m, std::size_t n, std::size_t depth, Strided<const S> a, Strided<const S> b, Strided<S> c,
           bool add) {
  constexpr std::size_t most = 2 * width<S>;
  std::size_t j = 0;
  for (; n - j > width<S>; j += n - j < most ? n - j : most)
    one_panel<S, 2, contiguous_rows>(m, n - j < most ? n - j : most, depth, a, b.from(0, j), c.from(0, j), add);
  if (j < n) one_panel<S, 1, contiguous_rows>(m, n - j, depth, a, b.from(0, j), c.from(0, j), add);
}

template <class S, bool contiguous_rows>
void multiply(std::size_t m, std::size_t n, std::size_t k, Strided<const S> a, Strided<const S> b, Strided<S> c,
              bool add) {
  const std::size_t parts = k == 0 ? 1 : (k + panel_depth - 1) / panel_depth;
  for (std::size_t i = 0; i < m; i += block_rows)
    for (std::size_t part = 0, l = 0; part < parts; ++part) {
      const std::size_t depth = (k - l) / (parts - part);
      terms<S, contiguous_rows>(m - i < block_rows ? m - i : block_rows, n, depth, a.from(i, l), b.from(l, 0),
                                c.from(i, 0), add || part > 0);
      l += depth;
    }
}

}  // namespace detail::tiled

template <class S>
void gemm_nn(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda, const S* b, std::size_t ldb,
             S* c, std::size_t ldc, bool accumulate) {
  detail::tiled::multiply<S, true>(m, n, k, {a, lda, 1}, {b, ldb, 1}, {c, ldc, 1}, accumulate);
}
template <class S>
void gemm_nt(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda, const S* b, std::size_t ldb,
             S* c, std::size_t ldc, bool accumulate) {
  if (m < n)
    detail::tiled::multiply<S, true>(n, m, k, {b, ldb, 1}, {a, 1, lda}, {c, 1, ldc}, accumulate);
  else
    detail::tiled::multiply<S, true>(m, n, k, {a, lda, 1}, {b, 1, ldb}, {c, ldc, 1}, accumulate);
}
template <class S>
void gemm_tn(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda, const S* b, std::size_t ldb,
             S* c, std::size_t ldc, bool accumulate) {
  detail::tiled::multiply<S, false>(m, n, k, {a, 1, lda}, {b, ldb, 1}, {c, ldc, 1}, accumulate);
}

}  // namespace algoperf
