// A convolution whose tiles take one pixel of several images.
#pragma once

#include <cstddef>
#include <cstring>

#include "../../../core/window_overlap.hpp"
#include "lanes.hpp"
#include "pack.hpp"
#include "strips.hpp"
#include "tile.hpp"
#include "tile_rows.hpp"

namespace algoperf::detail::tiled {
inline namespace ALGOPERF_SIMD {

constexpr std::size_t rounded_up(std::size_t n, std::size_t unit) { return (n + unit - 1) / unit * unit; }

// A convolution of images of rows x cols x channels by packed weights, with `padding` zeros above and to the left of an
// image. What is below and to the right follows from the number of outputs.
struct PackedConvolution {
  std::size_t images, rows, cols, channels, filters, size, stride, padding, out_rows, out_cols;
  std::size_t inputs() const { return rows * cols * channels; }
  std::size_t outputs() const { return out_rows * out_cols * filters; }
  std::size_t terms() const { return size * size * channels; }

  // Returns whether to take one pixel of several images at a time. Then no term is computed that has a zero of the
  // padding as a factor: of a 3 x 3 window on images of 4 x 4 pixels, that is 31 %. The images must fit into the
  // second-level cache.
  template <class S>
  bool by_pixels() const {
    constexpr std::size_t most = (std::size_t{5} << 17) / sizeof(S);
    return padding > 0 && out_cols <= 16 && images >= 8 && tile_rows * inputs() <= most;
  }
};

template <class S>
void convolve_by_pixels(const PackedConvolution& c, const S* x, const S* panels, const S* bias, S* y, S* memory) {
  const std::size_t apart = rounded_up(c.inputs(), line<S>) + line<S>;  // not a power of two, as in Packed
  TileTerms part{.depth = 0, .a_row = apart, .a_column = 1, .ldc = c.outputs(), .add = bias != nullptr};
  for (std::size_t image = 0, some; image < c.images; image += some, x += some * c.inputs(), y += some * c.outputs()) {
    some = next_rows(c.images - image);
    for (std::size_t i = 0; i < some; ++i) std::memcpy(memory + i * apart, x + i * c.inputs(), c.inputs() * sizeof(S));
    for (std::size_t o = 0; o < c.out_rows; ++o) {
      const WindowOverlap down = taps_within(o, c.rows, c.size, c.stride, c.padding);
      for (std::size_t q = 0; q < c.out_cols; ++q) {
        const WindowOverlap across = taps_within(q, c.cols, c.size, c.stride, c.padding);
        part.set_segments(down.count, across.count * c.channels);
        part.a_jump = c.cols * c.channels - part.depth;
        const S* const window = memory + (down.at * c.cols + across.at) * c.channels;
        const std::size_t first = (down.begin * c.size + across.begin) * c.channels;
        for (std::size_t f = 0; f < c.filters; f += line<S>) {
          const std::size_t columns = c.filters - f < line<S> ? c.filters - f : line<S>;
          const std::size_t b_row = panel_width<S>(columns);
          part.b_jump = (c.size * c.channels - part.depth) * b_row;
          if (bias != nullptr) part.bias = bias + f;
          panel_tiles(part, some, columns, window, 0, panels + f * c.terms() + first * b_row, b_row,
                      y + (o * c.out_cols + q) * c.filters + f);
        }
      }
    }
  }
}

}  // namespace ALGOPERF_SIMD
}  // namespace algoperf::detail::tiled
