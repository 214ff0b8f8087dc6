// PaddedImage: images with zeros around them.
#pragma once

#include <cstddef>
#include <cstring>

#include "lanes.hpp"

namespace algoperf::detail::tiled {
inline namespace ALGOPERF_SIMD {

// Images of rows x columns x channels with zeros around them.
struct PaddedImage {
  std::size_t rows, cols, channels;  // of the image
  std::size_t top, left, bottom, right;
  std::size_t width() const { return (left + cols + right) * channels; }
  std::size_t height() const { return top + rows + bottom; }
  std::size_t size() const { return width() * height(); }
  // Returns the number of elements that some images need in memory: none without padding.
  std::size_t memory(std::size_t images) const { return top + left + bottom + right == 0 ? 0 : images * size(); }

  template <class S>
  void clear(S* padded, std::size_t images) const {
    std::memset(padded, 0, memory(images) * sizeof(S));
  }
  // Returns some images with their padding: copies of their pixels in `padded` or, without padding, the images.
  template <class S>
  const S* pad(const S* from, S* padded, std::size_t images) const {
    if (memory(images) == 0) return from;
    for (std::size_t i = 0; i < images; ++i)
      for (std::size_t r = 0; r < rows; ++r, from += cols * channels)
        std::memcpy(padded + i * size() + (top + r) * width() + left * channels, from, cols * channels * sizeof(S));
    return padded;
  }
};

}  // namespace ALGOPERF_SIMD
}  // namespace algoperf::detail::tiled
