// Prefetching what the next tiles need: the rows of A that they read, and the elements of C that they write.
#pragma once

#include <cstddef>

#include "lanes.hpp"
#include "pack.hpp"
#include "strips.hpp"

namespace algoperf::detail::tiled {
inline namespace ALGOPERF_SIMD {

// Return whether tiles prefetch A and C. They prefetch A if a part of it has more than 128 KB and at least 64 terms, or
// 128 if a cache holds A. They prefetch C if it has more than 512 KB, or more than 4 MB if a part has fewer than 128
// terms. Without prefetching, the first tile of each strip waits for A, and each tile of a large C waits for the lines
// that it writes. With both, A B of 32768 x 64 with 128 terms takes 0.6 of the time. Measured on Zen 3, and not
// measured with AVX-512.
template <class S>
constexpr bool prefetches_a(std::size_t m, std::size_t depth, bool a_in_cache) {
  return !many_registers && m * depth * sizeof(S) > std::size_t{1} << 17 && depth >= (a_in_cache ? 128 : 64);
}
template <class S>
constexpr bool prefetches_c(std::size_t m, std::size_t n, std::size_t depth) {
  return !many_registers && m * n * sizeof(S) > (depth >= 128 ? std::size_t{1} << 19 : most_in_cache);
}

// The rows of A that the next tiles read.
template <class S>
class NextRows {
 public:
  NextRows(const Strided<const S>& a, std::size_t depth)
      : contiguous_(a.column == 1), depth_(depth), step_(contiguous_ ? a.row : a.column) {}
  // The next rows are `rows` rows that begin at `at`. Each of the following `tiles` tiles prefetches an equal share.
  void set(const S* at, std::size_t rows, std::size_t tiles) {
    at_ = at;
    pieces_ = contiguous_ ? rows : depth_;
    length_ = contiguous_ ? depth_ : rows;
    offset_ = 0;
    share_ = (pieces_ * ((length_ + in_line - 1) / in_line) + tiles - 1) / tiles;
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

  bool contiguous_;
  std::size_t depth_, step_;
  // `pieces_` pieces of `length_` contiguous elements are left, step_ apart, the first without `offset_` elements.
  const S* at_ = nullptr;
  std::size_t pieces_ = 0, length_ = 0, offset_ = 0, share_ = 0;  // share_: the lines that a tile prefetches
};

}  // namespace ALGOPERF_SIMD
}  // namespace algoperf::detail::tiled
