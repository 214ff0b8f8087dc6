// Implements convolution.hpp with the tiles of matrix products, without unrolling windows. An image is copied once,
// with its padding. A window is then `size` segments of size * channels contiguous elements, one per line. The windows
// of one output row overlap in memory; a tile takes each window as a row of A.
//
// The gradient of the input is a convolution of the outputs' gradient for each remainder of a pixel's coordinates
// modulo the stride, with those weights that meet this pixel. The gradient of the weights is a product of windows and
// outputs' gradients, summed over the places of all images in order.
#pragma once

#define ALGOPERF_CONVOLUTION_CHOSEN  // keeps convolution.hpp from including another implementation

#include <cstddef>
#include <cstring>

#include "convolution.hpp"
#include "tiles/buffer.hpp"
#include "tiles/lanes.hpp"
#include "tiles/pack.hpp"
#include "tiles/tile.hpp"

namespace algoperf {
namespace detail::tiled {
inline namespace ALGOPERF_SIMD {

constexpr std::size_t rounded_up(std::size_t n, std::size_t unit) { return (n + unit - 1) / unit * unit; }

// Calls tiles for `rows` rows and `columns` columns of C, with panels of B that follow each other in memory, each of
// `terms` rows.
template <class S>
void multiply_panels(const TileTerms& part, std::size_t rows, std::size_t columns, std::size_t terms, const S* a,
                     const S* panels, S* c) {
  for (std::size_t j = 0; j < columns; j += line<S>) {
    const std::size_t some = columns - j < line<S> ? columns - j : line<S>;
    for (std::size_t i = 0; i < rows; i += tile_rows) {
      const std::size_t m = rows - i < tile_rows ? rows - i : tile_rows;
      panel_tiles(part, m, some, a + i * part.a_row, panels + j * terms, panel_width<S>(some), c + i * part.ldc + j);
    }
  }
}

// Images of rows x columns x channels with zeros around them.
struct PaddedImage {
  std::size_t rows, cols, channels;  // of the image
  std::size_t top, left, bottom, right;
  std::size_t width() const { return (left + cols + right) * channels; }
  std::size_t height() const { return top + rows + bottom; }
  std::size_t size() const { return width() * height(); }

  template <class S>
  void clear(S* padded) const {
    std::memset(padded, 0, size() * sizeof(S));
  }
  // Overwrites the pixels, not the padding.
  template <class S>
  void copy(const S* image, S* padded) const {
    for (std::size_t r = 0; r < rows; ++r)
      std::memcpy(padded + (top + r) * width() + left * channels, image + r * cols * channels,
                  cols * channels * sizeof(S));
  }
};

inline PaddedImage padded_input(const Convolution& c) {
  return {c.rows, c.cols, c.channels, c.padding, c.padding, c.padding, c.padding};
}

// Memory of a convolution for this thread: a padded image and weights or their gradient.
template <class S>
struct ConvolutionMemory {
  S *image, *weights;
  static ConvolutionMemory of_this_thread(std::size_t image, std::size_t weights) {
    thread_local Buffer<S> buffer;
    const std::size_t first = rounded_up(image, line<S>);
    S* const memory = buffer.of_size(first + weights);
    return {memory, memory + first};
  }
};

// Along one axis, the pixels whose padded coordinate is `remainder` modulo the stride, and the weights that meet them:
// pixel stride * u + remainder - padding, for u in [first, end), gets weight remainder + stride * t from output u - t.
struct Residue {
  std::size_t remainder, taps, first, end;
  Residue(std::size_t r, std::size_t side, const Convolution& c)
      : remainder(r),
        taps(r < c.size ? (c.size - r - 1) / c.stride + 1 : 0),
        first(c.padding > r ? (c.padding - r - 1) / c.stride + 1 : 0),
        end(side + c.padding > r ? (side + c.padding - r - 1) / c.stride + 1 : 0) {}
  bool empty() const { return first >= end; }
  std::size_t pixel(std::size_t u, const Convolution& c) const { return c.stride * u + remainder - c.padding; }
};

template <class S>
void forward(const Convolution& c, const S* x, const S* weight, const S* bias, S* y) {
  const PaddedImage padded = padded_input(c);
  const std::size_t terms = c.size * c.size * c.channels, columns = c.out_cols();
  const auto memory = ConvolutionMemory<S>::of_this_thread(padded.size(), terms * rounded_up(c.filters, line<S>));
  pack_columns<S>(terms, c.filters, {weight, 1, terms}, memory.weights);
  padded.clear(memory.image);
  const std::size_t segment = c.size * c.channels, down = padded.width();
  const TileTerms part{.depth = segment,
                       .a_row = c.stride * c.channels,
                       .a_column = 1,
                       .ldc = c.filters,
                       .add = bias != nullptr,
                       .segments = c.size,
                       .a_jump = down - segment};
  for (std::size_t image = 0; image < c.images; ++image) {
    padded.copy(x + image * c.inputs(), memory.image);
    for (std::size_t o = 0; o < c.out_rows(); ++o, y += columns * c.filters) {
      if (bias != nullptr)
        for (std::size_t q = 0; q < columns; ++q) std::memcpy(y + q * c.filters, bias, c.filters * sizeof(S));
      multiply_panels(part, columns, c.filters, terms, memory.image + o * c.stride * down, memory.weights, y);
    }
  }
}

template <class S>
void back_to_input(const Convolution& c, const S* dy, const S* weight, S* dx) {
  const std::size_t most_taps = (c.size - 1) / c.stride + 1;
  const auto behind = [&](std::size_t side, std::size_t out) {
    const std::size_t end = (side + c.padding - 1) / c.stride + 1;
    return end > out ? end - out : 0;
  };
  const PaddedImage padded{c.out_rows(),
                           c.out_cols(),
                           c.filters,
                           most_taps - 1,
                           most_taps - 1,
                           behind(c.rows, c.out_rows()),
                           behind(c.cols, c.out_cols())};
  const std::size_t met = c.stride < c.size ? c.stride : c.size;  // remainders of pixels that any weight meets
  const std::size_t terms = most_taps * most_taps * c.filters;
  const auto memory = ConvolutionMemory<S>::of_this_thread(
      padded.size(), met * met * terms * rounded_up(c.channels, line<S>) + terms * c.channels);
  // Weights in the order in which a pixel's window meets them, for each pair of remainders.
  const std::size_t block = terms * rounded_up(c.channels, line<S>);
  S* const ordered = memory.weights + met * met * block;
  for (std::size_t a = 0; a < met; ++a)
    for (std::size_t b = 0; b < met; ++b) {
      const Residue down(a, c.rows, c), across(b, c.cols, c);
      S* to = ordered;
      for (std::size_t t = down.taps; t-- > 0;)
        for (std::size_t s = across.taps; s-- > 0;)
          for (std::size_t f = 0; f < c.filters; ++f, to += c.channels)
            std::memcpy(to, weight + ((f * c.size + a + c.stride * t) * c.size + b + c.stride * s) * c.channels,
                        c.channels * sizeof(S));
      pack_rows<S>(down.taps * across.taps * c.filters, c.channels, {ordered, c.channels, 1},
                   memory.weights + (a * met + b) * block);
    }
  padded.clear(memory.image);
  for (std::size_t image = 0; image < c.images; ++image, dx += c.inputs()) {
    padded.copy(dy + image * c.outputs(), memory.image);
    if (met < c.stride) std::memset(dx, 0, c.inputs() * sizeof(S));
    for (std::size_t a = 0; a < met; ++a) {
      const Residue down(a, c.rows, c);
      for (std::size_t u = down.first; u < down.end; ++u)
        for (std::size_t b = 0; b < met; ++b) {
          const Residue across(b, c.cols, c);
          if (across.empty()) continue;
          const std::size_t segment = across.taps * c.filters;
          const TileTerms part{.depth = segment,
                               .a_row = c.filters,
                               .a_column = 1,
                               .ldc = c.stride * c.channels,
                               .add = false,
                               .segments = down.taps,
                               .a_jump = padded.width() - segment};
          const S* const window = memory.image + (u + most_taps - down.taps) * padded.width() +
                                  (across.first + most_taps - across.taps) * c.filters;
          multiply_panels(part, across.end - across.first, c.channels, down.taps * segment, window,
                          memory.weights + (a * met + b) * block,
                          dx + (down.pixel(u, c) * c.cols + across.pixel(across.first, c)) * c.channels);
        }
    }
  }
}

template <class S>
void back_to_weight(const Convolution& c, const S* x, const S* dy, S* d_weight) {
  const PaddedImage padded = padded_input(c);
  const std::size_t terms = c.size * c.size * c.channels, segment = c.size * c.channels, columns = c.out_cols();
  const std::size_t places = c.out_rows() * columns;
  // Tiles read whole vectors of dy. If `filters` is not a multiple of the vector width, dy is packed first.
  const bool in_place = c.filters % width<S> == 0;
  const std::size_t sums = terms * c.filters;
  const auto memory = ConvolutionMemory<S>::of_this_thread(
      padded.size(), rounded_up(sums, line<S>) + (in_place ? 0 : places * rounded_up(c.filters, line<S>)));
  S* const packed = memory.weights + rounded_up(sums, line<S>);
  padded.clear(memory.image);
  // Places are added in parts of at most 512, or one row, as in matrix products.
  const std::size_t part_rows = columns < part_depth ? part_depth / columns : 1;
  TileTerms part{.depth = columns,
                 .a_row = 1,
                 .a_column = c.stride * c.channels,
                 .ldc = c.filters,
                 .add = false,
                 .a_jump = c.stride * (padded.width() - columns * c.channels)};
  for (std::size_t image = 0; image < c.images; ++image, dy += c.outputs()) {
    padded.copy(x + image * c.inputs(), memory.image);
    if (!in_place) pack_rows<S>(places, c.filters, {dy, c.filters, 1}, packed);
    for (std::size_t row = 0; row < c.out_rows(); row += part_rows, part.add = true) {
      part.segments = c.out_rows() - row < part_rows ? c.out_rows() - row : part_rows;
      for (std::size_t i = 0; i < c.size; ++i)
        for (std::size_t f = 0; f < c.filters; f += line<S>) {
          const std::size_t some = c.filters - f < line<S> ? c.filters - f : line<S>;
          const std::size_t b_row = in_place ? c.filters : panel_width<S>(some);
          const S* const b = (in_place ? dy + f : packed + f * places) + row * columns * b_row;
          for (std::size_t j = 0; j < segment; j += tile_rows) {
            const std::size_t m = segment - j < tile_rows ? segment - j : tile_rows;
            const S* const a = memory.image + (row * c.stride + i) * padded.width() + j;
            S* const to = memory.weights + (i * segment + j) * c.filters + f;
            panel_tiles(part, m, some, a, b, b_row, to);
          }
        }
    }
  }
  for (std::size_t f = 0; f < c.filters; ++f)
    for (std::size_t k = 0; k < terms; ++k) d_weight[f * terms + k] = memory.weights[k * c.filters + f];
}

}  // namespace ALGOPERF_SIMD
}  // namespace detail::tiled

template <class S>
void convolve(const Convolution& c, const S* x, const S* weight, const S* bias, S* y) {
  detail::tiled::forward(c, x, weight, bias, y);
}
template <class S>
void convolve_back_to_input(const Convolution& c, const S* dy, const S* weight, S* dx) {
  detail::tiled::back_to_input(c, dy, weight, dx);
}
template <class S>
void convolve_back_to_weight(const Convolution& c, const S* x, const S* dy, S* d_weight) {
  detail::tiled::back_to_weight(c, x, dy, d_weight);
}

}  // namespace algoperf
