// Copies parts of the operands of a product to contiguous memory, in the order in which tiles read them.
#pragma once

#include <cstddef>
#include <cstring>

#include "buffer.hpp"
#include "lanes.hpp"
#include "strips.hpp"

namespace algoperf::detail::tiled {
inline namespace ALGOPERF_SIMD {

// The terms of a product that are added before C is written. With AVX, a panel of B takes 16 KB, half of the
// first-level cache of most processors.
inline constexpr std::size_t part_depth = many_registers ? 512 : 256;
inline constexpr std::size_t most_in_cache = std::size_t{1} << 22;  // bytes of an operand that a cache holds

// The number of strips of A in a group, which are packed together. If A's columns are contiguous, packing copies one
// run of elements per column. Without AVX-512, the runs of four strips of floats would have only 96 bytes, parts of two
// or three lines of the cache, so a group has up to eight.
inline constexpr std::size_t contiguous_strips = 4, most_strips = many_registers ? 4 : 8;
constexpr std::size_t strips_of_group(bool contiguous) { return contiguous ? contiguous_strips : most_strips; }

// Returns the number of parts of k terms, at least one.
constexpr std::size_t parts_of(std::size_t k) { return (k + part_depth - 1) / part_depth; }

// A panel is `line` columns of B: two vectors. The last panel is one vector wide if that suffices.
template <class S>
inline constexpr std::size_t line = 2 * width<S>;
template <class S>
constexpr std::size_t panel_width(std::size_t columns) {
  return columns > width<S> ? line<S> : width<S>;
}

// A packed block of B takes at most 512 KB, half of the second-level cache of most processors with AVX-512. Others
// often have only 512 KB. There a block takes half of that, unless A has more than 1024 rows: each block reads all of
// A, so that fewer blocks then cost less (measured on Zen 3).
template <class S>
inline constexpr std::size_t block_elements = (std::size_t{1} << 19) / sizeof(S);
template <class S>
constexpr std::size_t block_columns(std::size_t m, std::size_t depth) {
  const std::size_t most = many_registers || m > 1024 ? block_elements<S> : block_elements<S> / 2;
  return most / depth / line<S> * line<S>;
}

// Packed rows of A are `row_step` apart, one vector more than they need: rows at large powers of two would compete
// for the same lines of the cache.
template <class S>
inline constexpr std::size_t row_step = part_depth + width<S>;

// The number of sets in the caches of the processors measured. A set holds at least eight lines of 64 bytes.
inline constexpr std::size_t first_level_sets = 64, second_level_sets = many_registers ? 2048 : 1024;

// Whether more than eight of `rows` rows, `distance` bytes apart, begin in the same set of a cache. Rows 4096 bytes
// apart, for example, begin in every 64th set.
constexpr bool rows_compete(std::size_t rows, std::size_t distance, std::size_t sets = second_level_sets) {
  const std::size_t all_sets = sets * 64, ways = 8;             // all_sets in bytes
  const std::size_t power_of_two = distance & (~distance + 1);  // that divides the distance
  return rows * (power_of_two < all_sets ? power_of_two : all_sets) > ways * all_sets;
}

// Whether `m` rows of A are multiplied by `depth` rows of B without packing these. With fewer than three tiles of rows,
// packing B costs more than it saves. Without many registers, tiles read each row of B in so many short pieces that
// more rows of A are faster with a packed B (or by panels, see below), and from nine rows on also fewer if the rows of
// B compete. But rows of at most 128 bytes are as good as panels, and for up to 144 rows of A, so are rows that fit in
// the first-level cache.
template <class S>
constexpr bool is_read_in_place(std::size_t m, std::size_t depth, const Strided<const S>& b) {
  if (b.column != 1 || m > 512) return false;
  const bool compete = rows_compete(depth, b.row * sizeof(S));
  if constexpr (many_registers) return m < 3 * tile_rows || !compete;
  return b.row * sizeof(S) <= 128 || (m <= 144 && depth * b.row * sizeof(S) <= std::size_t{1} << 15) ||
         (m < 3 * tile_rows && (m <= 8 || !compete));
}

// Whether B is read in place panel by panel: all rows of A are multiplied by one panel before the next, because the
// first rows bring the panel to the first-level cache. For nine rows to six strips, a B of at most 1 MB, and rows of B
// that do not compete for lines of the first-level cache (256 rows compete if a multiple of 256 bytes apart). With more
// rows or a larger B, the gain turned into a loss while the third-level cache was busy. Parts of B of up to 64 KB were
// faster by blocks. Measured on Zen 3.
template <class S>
constexpr bool is_read_by_panels(std::size_t m, std::size_t depth, const Strided<const S>& b, std::size_t bytes_of_b) {
  const std::size_t distance = b.row * sizeof(S);
  return !many_registers && b.column == 1 && m > 8 && m <= 6 * tile_rows && bytes_of_b <= std::size_t{1} << 20 &&
         depth * distance > std::size_t{1} << 16 && !rows_compete(depth, distance, first_level_sets);
}

// Whether a B whose columns are contiguous is packed panel by panel: all rows of A are multiplied by a panel while it
// is in the first-level cache. With fewer terms or a larger B, products took up to 1.07 times as long. Measured on
// Zen 3.
constexpr bool is_packed_by_panels(std::size_t m, std::size_t depth, std::size_t bytes_of_b) {
  return !many_registers && m <= 12 * tile_rows && depth >= 192 && bytes_of_b <= most_in_cache;
}

// Memory for one group of rows of A and one block of B.
template <class S>
struct Packed {
  S *a, *b;
  static Packed of_this_thread() {
    thread_local Buffer<S> buffer;
    constexpr std::size_t group = most_strips * tile_rows * row_step<S>;
    S* const memory = buffer.of_size(group + block_elements<S>);
    return {memory, memory + group};
  }
};

// Packs B, whose rows are contiguous, into panels. Columns past the last are zero. With AVX-512, the lines that are
// written are prefetched like those that are read, because panels are far apart. On Zen 3, this did not help.
template <class S>
void pack_rows(std::size_t depth, std::size_t columns, const Strided<const S>& b, S* panels) {
  constexpr std::size_t n = width<S>, ahead = many_registers ? 8 : 4;  // rows
  const std::size_t whole = columns / line<S> * line<S>, rest = columns - whole;
  const std::size_t last = panel_width<S>(rest), tail = rest > n ? rest - n : rest;
  for (std::size_t l = 0; l < depth; ++l) {
    const S* const from = b.data + l * b.row;
    for (std::size_t j = 0; j < whole; j += line<S>) {
      S* const to = panels + j * depth + l * line<S>;
      __builtin_prefetch(from + j + ahead * b.row);
      if constexpr (many_registers) {
        __builtin_prefetch(from + j + n + ahead * b.row);
        __builtin_prefetch(to + ahead * line<S>, 1);
        __builtin_prefetch(to + ahead * line<S> + n, 1);
      }
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

// Packs the next group of the `left` rows of A, and returns its number of rows. If they are contiguous, they remain
// rows, row_step apart. Otherwise each strip becomes columns of tile_rows elements. In both cases strip s begins at
// to + s * tile_rows * row_step.
template <class S>
std::size_t pack_group(std::size_t left, std::size_t depth, const Strided<const S>& a, S* to) {
  const std::size_t most = strips_of_group(a.column == 1);
  std::size_t begin[most_strips + 1] = {}, strips = 0;
  for (; strips < most && begin[strips] < left; ++strips)
    begin[strips + 1] = begin[strips] + rows_of_strip(left - begin[strips]);
  constexpr std::size_t step = tile_rows * row_step<S>;
  if (a.column == 1) {
    for (std::size_t s = 0; s < strips; ++s)
      for (std::size_t i = begin[s]; i < begin[s + 1]; ++i)
        std::memcpy(to + s * step + (i - begin[s]) * row_step<S>, a.data + i * a.row, depth * sizeof(S));
    return begin[strips];
  }
  constexpr std::size_t ahead = 8;  // columns
  for (std::size_t l = 0; l < depth; ++l, to += tile_rows) {
    const S* const from = a.data + l * a.column;
    for (std::size_t i = 0; i < begin[strips]; i += width<S>) __builtin_prefetch(from + i + ahead * a.column);
    for (std::size_t s = 0; s < strips; ++s) {
      const std::size_t rows = begin[s + 1] - begin[s];
      if (rows == tile_rows)
        std::memcpy(to + s * step, from + begin[s], tile_rows * sizeof(S));
      else if (!many_registers && rows == tile_rows - 1)
        std::memcpy(to + s * step, from + begin[s], (tile_rows - 1) * sizeof(S));
      else
        std::memcpy(to + s * step, from + begin[s], rows * sizeof(S));
    }
  }
  return begin[strips];
}

}  // namespace ALGOPERF_SIMD
}  // namespace algoperf::detail::tiled
