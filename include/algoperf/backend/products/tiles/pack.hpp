// Copies parts of the operands of a product to contiguous memory, in the order in which tiles read them.
#pragma once

#include <cstddef>
#include <cstring>

#include "buffer.hpp"
#include "lanes.hpp"

namespace algoperf::detail::tiled {
inline namespace ALGOPERF_SIMD {

// With AVX-512, the sums of this many rows by two vectors, two vectors of B and one of A fit in the 32 registers;
// otherwise there are 16 registers.
inline constexpr std::size_t tile_rows = native_vector_bytes == 64 ? 12 : 6;
inline constexpr std::size_t part_depth = 512;  // terms of a product that are added before C is written
inline constexpr std::size_t group_rows = 4 * tile_rows;

// Returns the number of parts of k terms. No terms are one part, which clears C if it is to be overwritten.
constexpr std::size_t parts_of(std::size_t k) { return k == 0 ? 1 : (k + part_depth - 1) / part_depth; }

// A panel is `line` columns of B: two vectors. The last panel is one vector wide if that suffices.
template <class S>
inline constexpr std::size_t line = 2 * width<S>;
template <class S>
constexpr std::size_t panel_width(std::size_t columns) {
  return columns > width<S> ? line<S> : width<S>;
}

// A packed block of B takes at most 512 KB, half of the second-level cache of most processors.
template <class S>
inline constexpr std::size_t block_elements = (std::size_t{1} << 19) / sizeof(S);
template <class S>
constexpr std::size_t block_columns(std::size_t depth) {
  return block_elements<S> / (depth > 0 ? depth : 1) / line<S> * line<S>;
}

// Packed rows of A are `row_step` apart, one vector more than they need: rows at multiples of 2 KB would compete for
// the same lines of the cache.
template <class S>
inline constexpr std::size_t row_step = part_depth + width<S>;

// Whether more than eight of `rows` rows, `distance` bytes apart, begin in the same set of the second-level cache, for
// the 2048 sets of 64-byte lines of the processors measured. Rows 4096 bytes apart begin in 32 of the sets.
constexpr bool rows_compete(std::size_t rows, std::size_t distance) {
  constexpr std::size_t all_sets = 2048 * 64, ways = 8;         // in bytes
  const std::size_t power_of_two = distance & (~distance + 1);  // that divides the distance
  return rows * (power_of_two < all_sets ? power_of_two : all_sets) > ways * all_sets;
}

// Whether `m` rows of A are multiplied by `depth` rows of B without packing these.
template <class S>
constexpr bool is_read_in_place(std::size_t m, std::size_t depth, const Strided<const S>& b) {
  if (b.column != 1 || m > 512) return false;
  // With fewer than three tiles of rows, packing B costs more than it saves.
  return m < 3 * tile_rows || !rows_compete(depth, b.row * sizeof(S));
}

// Memory for one group of rows of A and one block of B.
template <class S>
struct Packed {
  S *a, *b;
  static Packed of_this_thread() {
    thread_local Buffer<S> buffer;
    S* const memory = buffer.of_size(group_rows * row_step<S> + block_elements<S>);
    return {memory, memory + group_rows * row_step<S>};
  }
};

// Packs B, whose rows are contiguous, into panels. Columns past the last are zero. Panels are far apart, so the lines
// that are written are prefetched like those that are read.
template <class S>
void pack_rows(std::size_t depth, std::size_t columns, const Strided<const S>& b, S* panels) {
  constexpr std::size_t n = width<S>, ahead = 8;  // rows
  const std::size_t whole = columns / line<S> * line<S>, rest = columns - whole;
  const std::size_t last = panel_width<S>(rest), tail = rest > n ? rest - n : rest;
  for (std::size_t l = 0; l < depth; ++l) {
    const S* const from = b.data + l * b.row;
    for (std::size_t j = 0; j < whole; j += line<S>) {
      S* const to = panels + j * depth + l * line<S>;
      __builtin_prefetch(from + j + ahead * b.row);
      __builtin_prefetch(from + j + n + ahead * b.row);
      __builtin_prefetch(to + ahead * line<S>, 1);
      __builtin_prefetch(to + ahead * line<S> + n, 1);
      store<S>(load(from + j), to);
      store<S>(load(from + j + n), to + n);
    }
    if (rest == 0) continue;
    S* const to = panels + whole * depth + l * last;
    if (rest > n) store<S>(load(from + whole), to);
    store<S>(load_first(from + columns - tail, tail), to + last - n);
  }
}

// Packs B, whose columns are contiguous, into panels, by squares that it transposes. Columns past the last are zero.
template <class S>
void pack_columns(std::size_t depth, std::size_t columns, const Strided<const S>& b, S* panels) {
  constexpr std::size_t n = width<S>, ahead = 4 * n;
  for (std::size_t j = 0; j < columns; j += n) {
    const std::size_t panel = j / line<S> * line<S>, step = panel_width<S>(columns - panel);
    const std::size_t some = columns - j < n ? columns - j : n;
    for (std::size_t l = 0; l < depth; l += n) {
      const S* const from = b.data + l + j * b.column;
      S* const to = panels + panel * depth + l * step + (j - panel);
      Lanes<S> square[n];
      if (some == n && depth - l >= n) {
        ALGOPERF_UNROLL for (std::size_t i = 0; i < n; ++i) {
          __builtin_prefetch(from + i * b.column + ahead);
          square[i] = load(from + i * b.column);
        }
        transpose<S>(square);
        ALGOPERF_UNROLL for (std::size_t i = 0; i < n; ++i) store<S>(square[i], to + i * step);
      } else {
        const std::size_t terms = depth - l < n ? depth - l : n;
        ALGOPERF_UNROLL for (std::size_t i = 0; i < n; ++i) square[i] =
            i < some ? load_first(from + i * b.column, terms) : Lanes<S>{};
        transpose<S>(square);
        ALGOPERF_UNROLL for (std::size_t i = 0; i < n; ++i) if (i < terms) store<S>(square[i], to + i * step);
      }
    }
  }
}

// Packs at most group_rows rows of A. If they are contiguous, they remain rows, row_step apart. Otherwise each
// tile_rows of them become columns of tile_rows elements. In both cases row i, a multiple of tile_rows, begins at
// to + i * row_step.
template <class S>
void pack_group(std::size_t rows, std::size_t depth, const Strided<const S>& a, S* to) {
  if (a.column == 1) {
    for (std::size_t i = 0; i < rows; ++i) std::memcpy(to + i * row_step<S>, a.data + i * a.row, depth * sizeof(S));
    return;
  }
  constexpr std::size_t ahead = 8;  // columns
  for (std::size_t l = 0; l < depth; ++l) {
    const S* const from = a.data + l * a.column;
    for (std::size_t i = 0; i < rows; i += width<S>) __builtin_prefetch(from + i + ahead * a.column);
    for (std::size_t i = 0; i < rows; i += tile_rows) {
      S* const column = to + i * row_step<S> + l * tile_rows;
      if (rows - i >= tile_rows)
        std::memcpy(column, from + i, tile_rows * sizeof(S));
      else
        std::memcpy(column, from + i, (rows - i) * sizeof(S));
    }
  }
}

}  // namespace ALGOPERF_SIMD
}  // namespace algoperf::detail::tiled
