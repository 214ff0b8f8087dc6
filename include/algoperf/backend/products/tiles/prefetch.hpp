// Prefetching what the next tiles need: the rows of A that they read, and the elements of C that they write.
#pragma once

#include <cstddef>

#include "lanes.hpp"
#include "pack.hpp"
#include "strips.hpp"

namespace algoperf::detail::tiled {
inline namespace ALGOPERF_SIMD {

// Whether tiles prefetch A and C. Otherwise the first tile of each strip waits for A, and each tile of a large C waits
// for the lines that it writes. With both, A B of 32768 x 64 with 128 terms takes 0.6 of the time. Prefetching costs 2
// to 5 % where the operand is in a cache anyway, and where there are few terms, unless the operand exceeds the caches.
// Measured on Zen 3, and not measured with AVX-512.
template <class S>
constexpr bool prefetches_a(std::size_t m, std::size_t depth, bool a_in_cache) {
  return !many_registers && m * depth * sizeof(S) > std::size_t{1} << 17 && depth >= (a_in_cache ? 128 : 64);
}
template <class S>
constexpr bool prefetches_c(std::size_t m, std::size_t n, std::size_t depth) {
  return !many_registers && m * n * sizeof(S) > (depth >= 128 ? std::size_t{1} << 19 : most_in_cache);
}

// The rows of A after those that tiles compute. Each tile prefetches a share of them.
template <class S>
class NextRows {
 public:
  // For `tiles` tiles between two calls of `set`, which have at most `rows` rows.
  NextRows(const Strided<const S>& a, std::size_t depth, std::size_t rows, std::size_t tiles)
      : contiguous_(a.column == 1), depth_(depth), step_(contiguous_ ? a.row : a.column) {
    const std::size_t lines = contiguous_ ? rows * lines_of(depth) : depth * lines_of(rows);
    share_ = (lines + tiles - 1) / tiles;
  }
  // The next rows are `rows` rows that begin at `at`.
  void set(const S* at, std::size_t rows) {
    at_ = at;
    pieces_ = contiguous_ ? rows : depth_;
    length_ = contiguous_ ? depth_ : rows;
    offset_ = 0;
  }
  void prefetch() {
    for (std::size_t count = share_; pieces_ > 0 && count > 0; --count) {
      __builtin_prefetch(at_ + offset_);
      offset_ += in_line;
      if (offset_ < length_) continue;
      offset_ = 0;
      at_ += step_;
      --pieces_;
    }
  }

 private:
  static constexpr std::size_t in_line = 64 / sizeof(S);
  static constexpr std::size_t lines_of(std::size_t elements) { return (elements + in_line - 1) / in_line; }

  bool contiguous_;
  std::size_t depth_, step_, share_;
  // `pieces_` pieces of `length_` contiguous elements are left, step_ apart, the first without `offset_` elements.
  const S* at_ = nullptr;
  std::size_t pieces_ = 0, length_ = 0, offset_ = 0;
};

}  // namespace ALGOPERF_SIMD
}  // namespace algoperf::detail::tiled
