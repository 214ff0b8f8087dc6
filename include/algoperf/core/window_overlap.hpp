// Where a sliding window overlaps an axis of an image: convolutions leave out what meets only the padding.
#pragma once

#include <cstddef>

#include "config.hpp"

namespace algoperf {

// `count` taps or outputs from `begin` on, and the coordinate of the image that the first of them meets.
struct WindowOverlap {
  std::size_t begin, count, at;
};

// Returns the taps of an output's window of `size` coordinates that lie within an axis of `side` coordinates.
ALGOPERF_HD constexpr WindowOverlap taps_within(std::size_t output, std::size_t side, std::size_t size,
                                                std::size_t stride, std::size_t padding) {
  const std::size_t start = output * stride, stop = side + padding;
  const std::size_t begin = start < padding ? padding - start : 0;
  const std::size_t end = start + size <= stop ? size : start < stop ? stop - start : 0;
  if (begin >= end) return {begin, 0, 0};
  return {begin, end - begin, start + begin - padding};
}

// Returns the outputs whose windows have this tap within an axis of `side` coordinates. From one to the next, the
// coordinate grows by the stride.
ALGOPERF_HD constexpr WindowOverlap outputs_within(std::size_t tap, std::size_t side, std::size_t outputs,
                                                   std::size_t stride, std::size_t padding) {
  const std::size_t begin = tap < padding ? (padding - tap + stride - 1) / stride : 0;
  const std::size_t last = side + padding > tap ? (side + padding - tap - 1) / stride + 1 : 0;
  const std::size_t end = last < outputs ? last : outputs;
  if (begin >= end) return {begin, 0, 0};
  return {begin, end - begin, begin * stride + tap - padding};
}

}  // namespace algoperf
