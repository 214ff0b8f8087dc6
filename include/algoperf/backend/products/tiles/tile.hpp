// Tiles of a product: a few rows by one or two vectors of columns, or up to 7 rows by up to 16 vectors. Sums stay
// in registers for all terms of a part. Each term loads the vectors of B and, for each row, broadcasts an element of A.
#pragma once

#include <cstddef>

#include "lanes.hpp"
#include "strips.hpp"

namespace algoperf::detail::tiled {
inline namespace ALGOPERF_SIMD {

// What the tiles of a part have in common. Element (i, l) of A is a[i * a_row + l * a_column]. In convolutions, the
// terms are one or more segments of `depth` terms; behind each, A moves on by a_jump elements, and B by b_jump. They
// repeat for one or more images, behind each of which A and B move on by a_image and b_image more.
struct TileTerms {
  std::size_t depth, a_row, a_column, ldc;
  bool add;  // to C, or to `bias`; C is overwritten otherwise
  std::size_t segments = 1, a_jump = 0, b_jump = 0;
  std::size_t images = 1;
  std::ptrdiff_t a_image = 0, b_image = 0;
  const std::size_t* places = nullptr;  // of groups of rows of A, unless these are a_row apart
  const void* bias = nullptr;           // if not null, a row that `add` adds instead of C
  // With AVX-512, tiles of two to eight vectors and fewer than tile_rows rows prefetch B this many rows below, if it is
  // not 0. The other tiles of two to four vectors prefetch the same row of the next columns, into the second-level
  // cache.
  std::size_t rows_ahead = 0;
  bool a_is_far = false;  // whether tiles of two vectors prefetch A

  // Returns what `add` adds to the tile at c.
  template <class S>
  Strided<const S> added_to(const S* c) const {
    return {bias != nullptr ? static_cast<const S*>(bias) : c, bias != nullptr ? 0 : ldc, 1};
  }
  // Sets the terms to `count` segments of `length` terms. Either may be 0: then there are no terms.
  void set_segments(std::size_t count, std::size_t length) {
    segments = count > 0 ? count : 1;
    depth = count > 0 ? length : 0;
  }
};

// Whether loading the first elements of a row of B costs less than packing them into whole vectors.
inline constexpr bool cuts_rows = many_registers;

// What a tile can do. Its sums cost less if it does not have to look for segments, images and places.
enum class TileFor {
  any_terms,
  plain_terms,    // one segment, one image, rows of A at equal distances
  packing_terms,  // plain terms, and B is packed
  cut_terms,      // plain terms, and only `columns` elements of a row of B are read; for one vector
  far_terms,      // plain terms, and A, whose rows are not contiguous, is prefetched
};

// Writes a tile to C. Only some columns of its last vector exist. If part.add, adds the rows of `added` first.
template <class S, std::size_t rows, std::size_t vectors>
[[gnu::always_inline]] inline void write_cut(Lanes<S> (&sum)[rows][vectors], const TileTerms& part,
                                             const Strided<const S>& added, std::size_t columns, S* c) {
  constexpr std::size_t n = width<S>, last = vectors - 1;
  const std::size_t tail = columns - last * n, ldc = part.ldc;
  if (part.add) ALGOPERF_UNROLL for (std::size_t i = 0; i < rows; ++i) {
      const S* const from = added.data + i * added.row;
      ALGOPERF_UNROLL for (std::size_t v = 0; v < last; ++v) sum[i][v] = load(from + v * n) + sum[i][v];
      sum[i][last] = load_first(from + last * n, tail) + sum[i][last];
    }
  ALGOPERF_UNROLL for (std::size_t i = 0; i < rows; ++i) {
    S* const to = c + i * ldc;
    ALGOPERF_UNROLL for (std::size_t v = 0; v < last; ++v) store<S>(sum[i][v], to + v * n);
    store_first<S>(sum[i][last], to + last * n, tail);
  }
}

// Computes `rows` rows of C, from row `first` of A on, and `columns` columns: at most `vectors` vectors, and more than
// one fewer. Rows of B are b_row apart and are read as whole vectors, unless they are cut. Without AVX-512, tiles of
// plain terms and two vectors load and store only whole vectors: the second ends at the last column and may overlap
// the first. No column of B past the last is then read, so B may be in place. Each pointer to A serves `group` rows;
// `first` is a multiple of it. A packing tile writes the rows of B that it reads to `panel`, one after the other.
template <class S, std::size_t rows, std::size_t vectors, std::size_t group = tile_group,
          TileFor use = TileFor::any_terms>
[[gnu::noinline]] void tile(const TileTerms& part, std::size_t columns, const S* a, std::size_t first, const S* b,
                            std::size_t b_row, S* c, [[maybe_unused]] S* panel = nullptr) {
  constexpr std::size_t n = width<S>;
  constexpr bool plain = use != TileFor::any_terms, packs = use == TileFor::packing_terms;
  constexpr bool cuts = use == TileFor::cut_terms;
  static_assert(!cuts || vectors == 1);
  constexpr bool overlaps = plain && vectors == 2 && !many_registers;
  const auto column = [columns](std::size_t v) ALGOPERF_INLINE_LAMBDA {  // the first of vector v
    return overlaps && v == 1 ? columns - n : v * n;
  };
  const std::size_t a_row = part.a_row, ldc = part.ldc;
  Lanes<S> sum[rows][vectors] = {};
  constexpr std::size_t pointers = (rows + group - 1) / group;
  const S* at[pointers];
  ALGOPERF_UNROLL for (std::size_t i = 0; i < pointers; ++i) at[i] =
      a + (plain || part.places == nullptr ? (first + i * group) * a_row : part.places[first / group + i]);
  if (many_registers && part.depth >= 32)
    ALGOPERF_UNROLL for (std::size_t i = 0; i < rows; ++i) ALGOPERF_UNROLL for (std::size_t v = 0; v < vectors; ++v)
        __builtin_prefetch(c + i * ldc + v * n, 1);
  const bool near = rows < tile_rows && part.rows_ahead > 0;
  const std::size_t ahead = near ? part.rows_ahead * b_row : vectors * n;
  asm("" : "+r"(c));  // otherwise g++ computes the addresses of C only once and keeps them through the terms
  for (std::size_t segment = part.segments, image = part.images;;) {
    ALGOPERF_UNROLL_TERMS for (std::size_t l = part.depth; l > 0; --l, b += b_row) {
      Lanes<S> y[vectors];
      ALGOPERF_UNROLL for (std::size_t v = 0; v < vectors; ++v) {
        y[v] = load_lanes<cuts>(b + column(v), columns);
        if constexpr (packs) store<S>(y[v], panel + v * n);
        if constexpr (many_registers && vectors >= 2 && vectors <= 8) {
          if (near)
            __builtin_prefetch(b + ahead + v * n);
          else if constexpr (vectors <= 4)
            __builtin_prefetch(b + ahead + v * n, 0, 2);  // for the second-level cache
        }
      }
      ALGOPERF_UNROLL for (std::size_t i = 0; i < rows; ++i) {
        const Lanes<S> x = at[i / group][i % group * a_row] - Lanes<S>{};
        ALGOPERF_UNROLL for (std::size_t v = 0; v < vectors; ++v) sum[i][v] = add_product<S>(sum[i][v], x, y[v]);
      }
      if constexpr (use == TileFor::far_terms) {
        __builtin_prefetch(at[0] + 16 * part.a_column);
        if constexpr (many_registers) __builtin_prefetch(at[pointers - 1] + 16 * part.a_column);
      }
      ALGOPERF_UNROLL for (std::size_t i = 0; i < pointers; ++i) at[i] += part.a_column;
      if constexpr (packs) panel += vectors * n;
    }
    if constexpr (plain) break;
    auto a_step = static_cast<std::ptrdiff_t>(part.a_jump), b_step = static_cast<std::ptrdiff_t>(part.b_jump);
    if (--segment == 0) [[likely]] {
      if (--image == 0) [[likely]]
        break;
      segment = part.segments;
      a_step += part.a_image;
      b_step += part.b_image;
    }
    ALGOPERF_UNROLL for (std::size_t i = 0; i < pointers; ++i) at[i] += a_step;
    b += b_step;
  }
  const Strided<const S> added = part.added_to<S>(c);
  if (overlaps || columns == vectors * n) {
    if (part.add)
      ALGOPERF_UNROLL for (std::size_t i = 0; i < rows; ++i) ALGOPERF_UNROLL for (std::size_t v = 0; v < vectors; ++v)
          sum[i][v] = load(added.data + i * added.row + column(v)) + sum[i][v];
    ALGOPERF_UNROLL for (std::size_t i = 0; i < rows; ++i) ALGOPERF_UNROLL for (std::size_t v = 0; v < vectors; ++v)
        store<S>(sum[i][v], c + i * ldc + column(v));
    return;
  }
  write_cut<S>(sum, part, added, columns, c);
}

// The most rows of a tile: tile_rows, or 16 (15 for groups of three) with AVX-512, one vector of columns, and groups of
// rows that share a pointer.
template <std::size_t group, std::size_t vectors>
inline constexpr std::size_t most_rows = [] {
  if (!many_registers || vectors > 1 || group == 1) return tile_rows;
  return 16 / group * group;
}();

// Computes at most `rows` rows of one panel, with the largest tiles first. With groups of three, m is a multiple of 3.
// To save compile time, only tiles of plain terms and two vectors, without many registers, have any number of rows.
template <class S, std::size_t vectors, std::size_t group = tile_group, std::size_t rows = tile_rows,
          TileFor use = TileFor::any_terms>
void tiles(const TileTerms& part, std::size_t m, std::size_t columns, const S* a, std::size_t first, const S* b,
           std::size_t b_row, S* c) {
  if (m >= rows) {
    tile<S, rows, vectors, group, use>(part, columns, a, first, b, b_row, c);
    if ((m -= rows) == 0) return;
    first += rows;
    c += rows * part.ldc;
  }
  constexpr bool any_rows = !many_registers && vectors == 2 && use == TileFor::plain_terms;
  constexpr std::size_t fewer = group == 3   ? rows - 3
                                : any_rows   ? rows - 1
                                : rows == 16 ? 12
                                : rows == 12 ? 10
                                : rows == 10 ? 8
                                : rows == 6  ? 4
                                             : rows / 2;
  if constexpr (fewer > 0) tiles<S, vectors, group, fewer, use>(part, m, columns, a, first, b, b_row, c);
}

// The same for a panel of any width: one vector if that suffices.
template <class S, TileFor use = TileFor::any_terms>
void panel_tiles(const TileTerms& part, std::size_t m, std::size_t columns, const S* a, std::size_t first, const S* b,
                 std::size_t b_row, S* c) {
  if (columns > width<S>)
    tiles<S, 2, tile_group, tile_rows, use>(part, m, columns, a, first, b, b_row, c);
  else
    tiles<S, 1, tile_group, tile_rows, use>(part, m, columns, a, first, b, b_row, c);
}

}  // namespace ALGOPERF_SIMD
}  // namespace algoperf::detail::tiled
