// Window: the geometry of a square window that slides over an image of rows x columns x channels, used by convolutions
// and pooling layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "../core/config.hpp"
#include "../core/describe_shape.hpp"
#include "../core/error.hpp"

namespace algoperf {

struct Window {
  std::size_t rows, cols, channels;  // of the image
  std::size_t size, stride, padding;
  std::size_t out_rows, out_cols;

  constexpr Window(Shape in, std::size_t window, std::size_t step, std::size_t zeros)
      : rows(in[0]),
        cols(in[1]),
        channels(in[2]),
        size(window),
        stride(step),
        padding(zeros),
        out_rows(positions(in[0])),
        out_cols(positions(in[1])) {}

  static constexpr std::size_t max_padding = std::size_t{1} << 31;

  constexpr std::size_t positions(std::size_t extent) const {
    if (extent > max_elements || padding > max_padding) return 0;
    const std::size_t padded = extent + 2 * padding;
    return padded < size || stride == 0 ? 0 : (padded - size) / stride + 1;
  }
  constexpr Shape output(std::size_t out_channels) const { return {out_rows, out_cols, out_channels}; }

  // Throws Error if `in` is not an image that the window fits.
  void check(const std::string& name, const char* layer, Shape in) const {
    require(size > 0 && stride > 0, name, ": ", layer, " has size ", size, " and stride ", stride,
            ", expected both at least 1");
    require(padding <= max_padding, name, ": ", layer, " has padding ", padding, ", expected at most ", max_padding);
    require(in.rank == 3 && in.size() > 0, name, ": ", layer, " got examples of shape ", describe(in),
            ", expected {rows, columns, channels}");
    require(out_rows > 0 && out_cols > 0, name, ": ", layer, " has size ", size, " and padding ", padding,
            ", which does not fit examples of shape ", describe(in));
  }

  // The position of a pixel within consecutive images of height x width.
  struct Place {
    std::size_t image, row, col;
  };
  static ALGOPERF_HD constexpr Place place(std::size_t pixel, std::size_t height, std::size_t width) {
    const std::size_t line = pixel / width, image = line / height;
    return {image, line - image * height, pixel - line * width};
  }

  // The positions [begin, end) along one axis, out of `count`, whose window contains coordinate i of the image.
  struct Range {
    std::size_t begin, end;
  };
  ALGOPERF_HD constexpr Range covering(std::size_t i, std::size_t count) const {
    const std::size_t at = i + padding;
    const std::size_t begin = at < size ? 0 : steps(at - size) + 1, end = steps(at) + 1;
    return {begin, end < count ? end : count};
  }
  // Returns the sum, over the `count` window positions along one axis, of the number of coordinates in [0, extent) that
  // the window covers.
  constexpr std::uint64_t covered(std::size_t extent, std::size_t count) const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < extent; ++i) {
      const Range range = covering(i, count);
      if (range.begin < range.end) sum += range.end - range.begin;
    }
    return sum;
  }
  // Returns the sum over all covered pixels of the number of windows that cover the pixel, minus 1.
  constexpr std::uint64_t covered_again() const {
    const auto reached = [&](std::size_t extent, std::size_t count) {
      std::uint64_t sum = 0;
      for (std::size_t i = 0; i < extent; ++i) sum += covering(i, count).begin < covering(i, count).end;
      return sum;
    };
    return covered(rows, out_rows) * covered(cols, out_cols) - reached(rows, out_rows) * reached(cols, out_cols);
  }
  // Returns the offset of the image's coordinate i within the window at `position`.
  ALGOPERF_HD constexpr std::size_t within(std::size_t i, std::size_t position) const {
    return i + padding - position * stride;
  }

 private:
  ALGOPERF_HD constexpr std::size_t steps(std::size_t distance) const {
    return stride == 1 ? distance : distance / stride;  // avoids a division in the usual case
  }
};

}  // namespace algoperf
