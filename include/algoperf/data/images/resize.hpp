// Changes of an image's size.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../core/error.hpp"
#include "check_size.hpp"
#include "image.hpp"

namespace algoperf {

namespace detail {

// For the pixels [first, first + count) of the resized image along one axis: their source pixels and weights times
// 2^22.
struct ResizeWeights {
  struct Pixel {
    std::size_t first = 0;
    std::vector<std::int32_t> weights = {};
  };
  static constexpr int bits = 22;
  std::vector<Pixel> pixels;

  // The triangle filter. Its half-width, in source pixels, is the larger of 1 and from / to.
  ResizeWeights(std::size_t from, std::size_t to, std::size_t first, std::size_t count) : pixels(count) {
    const double scale = static_cast<double>(from) / static_cast<double>(to), support = scale < 1 ? 1 : scale;
    for (std::size_t i = 0; i < count; ++i) {
      const double centre = (static_cast<double>(first + i) + 0.5) * scale, least = centre - support + 0.5;
      const std::size_t begin = least < 0 ? 0 : static_cast<std::size_t>(least);
      const std::size_t end = std::min(from, static_cast<std::size_t>(centre + support + 0.5));
      std::vector<double> weights;
      double total = 0;
      for (std::size_t x = begin; x < end; ++x) {
        const double distance = std::abs((static_cast<double>(x) - centre + 0.5) / support);
        weights.push_back(distance < 1 ? 1 - distance : 0);
        total += weights.back();
      }
      pixels[i].first = begin;
      for (const double w : weights)
        pixels[i].weights.push_back(static_cast<std::int32_t>(w / total * (1 << bits) + 0.5));
    }
  }
  // The source pixels that any of the pixels needs.
  std::size_t begin() const { return pixels.front().first; }
  std::size_t end() const { return pixels.back().first + pixels.back().weights.size(); }
};

// Throws Error unless the image has as many bytes as its sizes say.
inline void check_bytes(const Image& image, const char* function) {
  require(image.rows > 0 && image.columns > 0 && image.channels > 0 &&
              image.bytes.size() == image.rows * image.columns * image.channels,
          function, ": the image has ", image.rows, " x ", image.columns, " x ", image.channels, " pixels and ",
          image.bytes.size(), " bytes, expected a byte for each channel of each of at least one pixel");
}

// Returns the part [top, top + window_rows) x [left, left + window_columns) of the image resized to rows x columns.
inline Image resized_window(const Image& image, std::size_t rows, std::size_t columns, std::size_t top,
                            std::size_t left, std::size_t window_rows, std::size_t window_columns) {
  check_size(window_rows, window_columns, "resized");
  // Resamples each of `lines` lines. Pixels of a line have `width` bytes and start `step` bytes apart. Lines start
  // from_line bytes apart in `from` and to_line bytes apart in `to`. `from` begins at pixel `from_pixel` of a line.
  const auto resample = [](const ResizeWeights& by, const std::uint8_t* from, std::size_t from_pixel, std::size_t step,
                           std::uint8_t* to, std::size_t lines, std::size_t from_line, std::size_t to_line,
                           std::size_t width) {
    for (std::size_t line = 0; line < lines; ++line)
      for (std::size_t i = 0; i < by.pixels.size(); ++i)
        for (std::size_t k = 0; k < width; ++k) {
          std::int64_t sum = std::int64_t{1} << (ResizeWeights::bits - 1);
          const std::uint8_t* x = from + line * from_line + (by.pixels[i].first - from_pixel) * step + k;
          for (const std::int32_t w : by.pixels[i].weights) {
            sum += std::int64_t{w} * *x;
            x += step;
          }
          sum >>= ResizeWeights::bits;
          to[line * to_line + i * step + k] = static_cast<std::uint8_t>(sum > 255 ? 255 : sum);
        }
  };
  const std::size_t channels = image.channels, line = window_columns * channels;
  const ResizeWeights by_columns(image.columns, columns, left, window_columns),
      by_rows(image.rows, rows, top, window_rows);
  const std::size_t needed = by_rows.end() - by_rows.begin();  // rows of the image
  std::vector<std::uint8_t> wide(needed * line);
  resample(by_columns, image.bytes.data() + by_rows.begin() * image.columns * channels, 0, channels, wide.data(),
           needed, image.columns * channels, line, channels);
  Image result{window_rows, window_columns, channels, std::vector<std::uint8_t>(window_rows * line)};
  resample(by_rows, wide.data(), by_rows.begin(), line, result.bytes.data(), 1, 0, 0, line);
  return result;
}

// Returns the rows or columns that a centre crop leaves out at the top or left, of n that it leaves out altogether.
inline std::size_t half_rounded_to_even(std::size_t n) { return n / 2 + (n % 4 == 3); }

}  // namespace detail

// Resizes by bilinear interpolation. Where the image shrinks, the triangle filter widens (antialiasing). Resizes the
// columns first, then the rows, and rounds to 8 bits after each. The bytes equal those of Pillow's Image.resize(...,
// BILINEAR), and so of torchvision's Resize of such images. Throws Error unless both images have 1 to 2^28 pixels.
inline Image resized(const Image& image, std::size_t rows, std::size_t columns) {
  detail::check_bytes(image, "resized");
  return detail::resized_window(image, rows, columns, 0, 0, rows, columns);
}

// Returns the centre crop. If an odd number n of rows is left out, n / 2 rounded to even is left out at the top, as in
// torchvision's CenterCrop; likewise for columns, at the left. Throws Error if the image is smaller.
inline Image cropped(const Image& image, std::size_t rows, std::size_t columns) {
  detail::check_bytes(image, "cropped");
  require(rows <= image.rows && columns <= image.columns, "cropped: the crop has ", rows, " x ", columns,
          " pixels, expected at most those of the image, ", image.rows, " x ", image.columns);
  const std::size_t top = detail::half_rounded_to_even(image.rows - rows),
                    left = detail::half_rounded_to_even(image.columns - columns), width = columns * image.channels;
  Image result{rows, columns, image.channels, {}};
  for (std::size_t r = 0; r < rows; ++r) {
    const auto from =
        image.bytes.begin() + static_cast<std::ptrdiff_t>(((top + r) * image.columns + left) * image.channels);
    result.bytes.insert(result.bytes.end(), from, from + static_cast<std::ptrdiff_t>(width));
  }
  return result;
}

// Scales the image, without distortion, so that its shorter side has `shorter` pixels, and returns the centre crop. 0
// stands for the least size that covers rows x columns. For squares: torchvision's Resize(shorter) and
// CenterCrop(rows). Computes only the pixels of the crop. Throws Error if the crop does not fit.
inline Image fitted(const Image& image, std::size_t rows, std::size_t columns, std::size_t shorter = 0) {
  detail::check_bytes(image, "fitted");
  std::size_t height = shorter, width = shorter;
  if (shorter == 0 && image.rows * columns > image.columns * rows)
    height = image.rows * columns / image.columns, width = columns;
  else if (shorter == 0)
    height = rows, width = image.columns * rows / image.rows;
  else if (image.rows < image.columns)
    width = image.columns * shorter / image.rows;
  else
    height = image.rows * shorter / image.columns;
  require(rows <= height && columns <= width, "fitted: the crop has ", rows, " x ", columns,
          " pixels, the scaled image ", height, " x ", width, ", expected at least as many");
  if (height == image.rows && width == image.columns) return cropped(image, rows, columns);
  return detail::resized_window(image, height, width, detail::half_rounded_to_even(height - rows),
                                detail::half_rounded_to_even(width - columns), rows, columns);
}

}  // namespace algoperf
