// Changes of an image's size.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "image.hpp"

namespace algoperf {

namespace detail {

// The pixels that make a pixel of the resized image along one axis, and their weights times 2^22.
struct ResizeWeights {
  struct Pixel {
    std::size_t first = 0;
    std::vector<std::int32_t> weights = {};
  };
  static constexpr int bits = 22;
  std::vector<Pixel> pixels;

  // A triangle around the pixel's centre, as wide as two pixels of the larger scale.
  ResizeWeights(std::size_t from, std::size_t to) : pixels(to) {
    const double scale = static_cast<double>(from) / static_cast<double>(to), support = scale < 1 ? 1 : scale;
    for (std::size_t i = 0; i < to; ++i) {
      const double centre = (static_cast<double>(i) + 0.5) * scale, least = centre - support + 0.5;
      const std::size_t first = least < 0 ? 0 : static_cast<std::size_t>(least);
      const std::size_t end = std::min(from, static_cast<std::size_t>(centre + support + 0.5));
      std::vector<double> weights;
      double total = 0;
      for (std::size_t x = first; x < end; ++x) {
        const double distance = std::abs((static_cast<double>(x) - centre + 0.5) / support);
        weights.push_back(distance < 1 ? 1 - distance : 0);
        total += weights.back();
      }
      pixels[i].first = first;
      for (const double w : weights)
        pixels[i].weights.push_back(static_cast<std::int32_t>(w / total * (1 << bits) + 0.5));
    }
  }
};

}  // namespace detail

// Returns the image with other numbers of rows and columns, by bilinear interpolation where it grows, and by the same
// triangle over more pixels where it shrinks (antialiasing). First the columns, then the rows; each rounds to 8 bits.
// The bytes are those of Pillow's Image.resize(..., BILINEAR) and so of torchvision's Resize of such images.
inline Image resized(const Image& image, std::size_t rows, std::size_t columns) {
  require(rows > 0 && columns > 0 && image.rows > 0 && image.columns > 0, "resized: from ", image.rows, " x ",
          image.columns, " to ", rows, " x ", columns, " pixels, expected at least 1 each");
  // Combines pixels along one axis: `count` of them, `step` bytes apart, for each of `lines` lines.
  const auto combine = [](const detail::ResizeWeights& by, const std::uint8_t* from, std::size_t step, std::uint8_t* to,
                          std::size_t lines, std::size_t from_line, std::size_t to_line, std::size_t width) {
    for (std::size_t line = 0; line < lines; ++line)
      for (std::size_t i = 0; i < by.pixels.size(); ++i)
        for (std::size_t k = 0; k < width; ++k) {
          std::int64_t sum = std::int64_t{1} << (detail::ResizeWeights::bits - 1);
          const std::uint8_t* x = from + line * from_line + by.pixels[i].first * step + k;
          for (const std::int32_t w : by.pixels[i].weights) {
            sum += std::int64_t{w} * *x;
            x += step;
          }
          sum >>= detail::ResizeWeights::bits;
          to[line * to_line + i * step + k] = static_cast<std::uint8_t>(sum > 255 ? 255 : sum);
        }
  };
  const std::size_t channels = image.channels;
  Image wide{image.rows, columns, channels, std::vector<std::uint8_t>(image.rows * columns * channels)};
  combine({image.columns, columns}, image.bytes.data(), channels, wide.bytes.data(), image.rows,
          image.columns * channels, columns * channels, channels);
  Image result{rows, columns, channels, std::vector<std::uint8_t>(rows * columns * channels)};
  combine({image.rows, rows}, wide.bytes.data(), columns * channels, result.bytes.data(), 1, 0, 0, columns * channels);
  return result;
}

// Returns the middle of the image. Of an odd number of rows or columns to leave out, the half is rounded to an even
// number, as in torchvision's CenterCrop. Throws Error if the image is smaller.
inline Image cropped(const Image& image, std::size_t rows, std::size_t columns) {
  require(rows <= image.rows && columns <= image.columns, "cropped: from ", image.rows, " x ", image.columns, " to ",
          rows, " x ", columns, " pixels, expected at most as many");
  const auto half = [](std::size_t n) { return n / 2 + (n % 4 == 3); };
  const std::size_t top = half(image.rows - rows), left = half(image.columns - columns),
                    width = columns * image.channels;
  Image result{rows, columns, image.channels, {}};
  for (std::size_t r = 0; r < rows; ++r) {
    const auto from =
        image.bytes.begin() + static_cast<std::ptrdiff_t>(((top + r) * image.columns + left) * image.channels);
    result.bytes.insert(result.bytes.end(), from, from + static_cast<std::ptrdiff_t>(width));
  }
  return result;
}

// Returns the image scaled, with its proportions, to the least size that covers rows x columns, and then cropped.
// For squares: torchvision's Resize(size) and CenterCrop(size).
inline Image fitted(const Image& image, std::size_t rows, std::size_t columns) {
  require(rows > 0 && columns > 0 && image.rows > 0 && image.columns > 0, "fitted: from ", image.rows, " x ",
          image.columns, " to ", rows, " x ", columns, " pixels, expected at least 1 each");
  std::size_t height = rows, width = columns;
  if (image.rows * columns > image.columns * rows)
    height = image.rows * columns / image.columns;
  else
    width = image.columns * rows / image.rows;
  return cropped(height == image.rows && width == image.columns ? image : resized(image, height, width), rows, columns);
}

}  // namespace algoperf
