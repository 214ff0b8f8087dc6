// How the rows of C are divided into strips, whose tiles have as many rows.
#pragma once

#include <cstddef>

#include "../../../core/config.hpp"
#include "../../host/vector.hpp"

namespace algoperf::detail::tiled {
inline namespace ALGOPERF_SIMD {

// AVX-512 has 32 registers. Everything else is treated as having 16, NEON too. The constants for these were chosen with
// AVX2 on AMD's Zen 3.
inline constexpr bool many_registers = native_vector_bytes == 64;

// The sums of this many rows by two vectors, two vectors of B and one of A fit in the registers.
inline constexpr std::size_t tile_rows = many_registers ? 12 : 6;

// The rows of A that share a pointer: addressing modes add small multiples of the row distance.
inline constexpr std::size_t tile_group = many_registers ? 4 : 2;

// Returns the rows of the next tile of `left` rows, a multiple of `unit` unless it is the last. Two tiles of similar
// size are faster than a large and a small one. `most` is a multiple of `unit`.
constexpr std::size_t next_rows(std::size_t left, std::size_t unit = tile_group, std::size_t most = tile_rows) {
  if (left <= most) return left;
  return left < 2 * most ? ((left + 1) / 2 + unit - 1) / unit * unit : most;
}

// Returns the rows of the next strip of `left` rows of a product, at most `most`. With many registers, an odd number is
// not halved: its parts would be split into many tiles. Otherwise there are tiles of any number of rows up to six, and
// strips are as equal as possible: from 18 rows on, they have five or six rows, whose tiles take less time per row than
// those of four. Seven rows are six and one, because 4 and 3 took longer.
constexpr std::size_t rows_of_strip(std::size_t left, std::size_t most = tile_rows) {
  if constexpr (many_registers) return left % 2 == 0 ? next_rows(left, tile_group, most) : left < most ? left : most;
  if (left <= most + 1) return left < most ? left : most;
  const std::size_t strips = (left + most - 1) / most;
  return (left + strips - 1) / strips;
}

}  // namespace ALGOPERF_SIMD
}  // namespace algoperf::detail::tiled
