// Implements convolution.hpp with the tiles of matrix products, without unrolling windows. A window consists of `size`
// segments of contiguous elements, one per line. Which windows are the rows of a tile depends on the shape:
//   by pixels  one pixel of as many images as a tile has rows. All these windows meet the padding in the same
//              taps, which are left out.
//   by lines   the pixels of an image, or of several small ones, copied with their padding, if any. Windows overlap in
//              memory.
// Both add the terms of an output in the same order, so they give the same bits.
//
// The gradient of the input is a convolution of the outputs' gradient for each remainder of a pixel's coordinates
// modulo the stride, with those weights that meet this pixel. The gradient of the weights is a product of windows and
// outputs' gradients, summed over the places of all images in order; by taps, without the padding, if images are small.
#pragma once

#define ALGOPERF_CONVOLUTION_CHOSEN  // keeps convolution.hpp from including another implementation

#include <cstddef>
#include <cstring>

#include "../../core/window_overlap.hpp"
#include "convolution.hpp"
#include "tiles/buffer.hpp"
#include "tiles/convolution_by_pixels.hpp"
#include "tiles/lanes.hpp"
#include "tiles/pack.hpp"
#include "tiles/padded_image.hpp"
#include "tiles/strips.hpp"
#include "tiles/tile.hpp"
#include "tiles/tile_rows.hpp"

namespace algoperf {
namespace detail::tiled {
inline namespace ALGOPERF_SIMD {

// Small images are convolved together, so that tiles have all their rows: as many images as have this many pixels.
inline constexpr std::size_t pixels_together = 4 * tile_rows;
constexpr std::size_t images_together(std::size_t images, std::size_t places) {
  const std::size_t enough = (pixels_together + places - 1) / places;
  return enough < images ? enough : images;
}

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
  const std::size_t terms = c.size * c.size * c.channels, places = c.out_rows() * c.out_cols();
  const PackedConvolution packed{c.images, c.rows,   c.cols,    c.channels,   c.filters,
                                 c.size,   c.stride, c.padding, c.out_rows(), c.out_cols()};
  const bool by_pixels = packed.by_pixels<S>();
  const std::size_t most = images_together(c.images, places);
  const auto memory = ConvolutionMemory<S>::of_this_thread(
      by_pixels ? tile_rows * (c.inputs() + 2 * line<S>) : padded.memory(most), terms * rounded_up(c.filters, line<S>));
  pack_columns<S>(terms, c.filters, {weight, 1, terms}, memory.weights);
  if (by_pixels) return convolve_by_pixels(packed, x, memory.weights, bias, y, memory.image);
  padded.clear(memory.image, most);
  const std::size_t segment = c.size * c.channels, down = padded.width();
  const TileRows pixels(most, c.out_rows(), c.out_cols(), c.stride * c.channels, c.stride * down, padded.size());
  TileTerms part{.depth = segment,
                 .a_row = c.stride * c.channels,
                 .a_column = 1,
                 .ldc = c.filters,
                 .add = bias != nullptr,
                 .segments = c.size,
                 .a_jump = down - segment,
                 .places = pixels.places(),
                 .bias = bias};
  for (std::size_t image = 0, some; image < c.images; image += some, y += some * c.outputs()) {
    some = c.images - image < most ? c.images - image : most;
    const S* const windows = padded.pad(x + image * c.inputs(), memory.image, some);
    pixels.multiply(part, some * places, c.filters, terms, windows, memory.weights, y);
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
  // With stride 1, there is one remainder, whose pixels are those of the image in their order. The gradient is then a
  // convolution of the outputs' gradient.
  const std::size_t most = c.stride == 1 ? images_together(c.images, c.rows * c.cols) : 1;
  const PackedConvolution mirrored{c.images, c.out_rows(),           c.out_cols(), c.filters, c.channels, c.size,
                                   1,        c.size - 1 - c.padding, c.rows,       c.cols};
  const bool by_pixels = c.stride == 1 && c.padding < c.size && mirrored.by_pixels<S>();
  const auto memory = ConvolutionMemory<S>::of_this_thread(
      by_pixels ? tile_rows * (mirrored.inputs() + 2 * line<S>) : padded.memory(most),
      met * met * terms * rounded_up(c.channels, line<S>) + terms * c.channels);
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
  if (by_pixels) return convolve_by_pixels<S>(mirrored, dy, memory.weights, nullptr, dx, memory.image);
  padded.clear(memory.image, most);
  const TileRows pixels =
      c.stride == 1 ? TileRows(most, c.rows, c.cols, c.filters, padded.width(), padded.size()) : TileRows();
  for (std::size_t image = 0, some; image < c.images; image += some, dx += some * c.inputs()) {
    some = c.images - image < most ? c.images - image : most;
    const S* const gradients = padded.pad(dy + image * c.outputs(), memory.image, some);
    if (met < c.stride) std::memset(dx, 0, c.inputs() * sizeof(S));
    for (std::size_t a = 0; a < met; ++a) {
      const Residue down(a, c.rows, c);
      const std::size_t lines = c.stride == 1 ? c.rows : 1;
      for (std::size_t u = down.first; u < down.end; u += lines)
        for (std::size_t b = 0; b < met; ++b) {
          const Residue across(b, c.cols, c);
          if (across.empty()) continue;
          const std::size_t segment = across.taps * c.filters, block_terms = down.taps * segment;
          TileTerms part{.depth = segment,
                         .a_row = c.filters,
                         .a_column = 1,
                         .ldc = c.stride * c.channels,
                         .add = false,
                         .segments = down.taps,
                         .a_jump = padded.width() - segment,
                         .places = pixels.places()};
          const S* const window = gradients + (u + most_taps - down.taps) * padded.width() +
                                  (across.first + most_taps - across.taps) * c.filters;
          const S* const weights = memory.weights + (a * met + b) * block;
          S* const to = dx + (down.pixel(u, c) * c.cols + across.pixel(across.first, c)) * c.channels;
          pixels.multiply(part, c.stride == 1 ? some * c.rows * c.cols : across.end - across.first, c.channels,
                          block_terms, window, weights, to);
        }
    }
  }
}

// Sums of products for each tap of a window, without those with zeros of the padding. `sums` is {size, size, channels,
// filters}.
template <class S>
void weights_by_taps(const Convolution& c, const S* x, const S* dy, std::size_t dy_row, S* sums) {
  const std::size_t places = c.out_rows() * c.out_cols();
  const std::size_t most = places < part_depth ? part_depth / places : 1;  // images in a part
  TileTerms part{.depth = 0, .a_row = 1, .a_column = c.stride * c.channels, .ldc = c.filters, .add = false};
  for (std::size_t image = 0; image < c.images; image += most, part.add = true) {
    part.images = c.images - image < most ? c.images - image : most;
    for (std::size_t i = 0; i < c.size; ++i) {
      const WindowOverlap down = outputs_within(i, c.rows, c.out_rows(), c.stride, c.padding);
      for (std::size_t j = 0; j < c.size; ++j) {
        const WindowOverlap across = outputs_within(j, c.cols, c.out_cols(), c.stride, c.padding);
        part.set_segments(down.count, across.count);
        part.a_jump = c.stride * (c.cols - part.depth) * c.channels;
        part.a_image = static_cast<std::ptrdiff_t>(c.inputs()) -
                       static_cast<std::ptrdiff_t>(part.segments * c.stride * c.cols * c.channels);
        const S* const a = x + image * c.inputs() + (down.at * c.cols + across.at) * c.channels;
        for (std::size_t f = 0; f < c.filters; f += line<S>) {
          const std::size_t some = c.filters - f < line<S> ? c.filters - f : line<S>;
          const std::size_t b_row = dy_row > 0 ? dy_row : panel_width<S>(some);
          part.b_jump = (c.out_cols() - part.depth) * b_row;
          part.b_image = static_cast<std::ptrdiff_t>((places - part.segments * c.out_cols()) * b_row);
          const std::size_t first = image * places + down.begin * c.out_cols() + across.begin;
          const S* const b = dy + first * b_row + (dy_row > 0 ? f : f * c.images * places);
          S* const to = sums + (i * c.size + j) * c.channels * c.filters + f;
          TileRows().multiply_panel(part, c.channels, some, a, b, b_row, to);
        }
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
  // The sums of a tile of one to three rows wait for each other. Repeating the last row of windows up to a multiple of
  // four costs less; these sums are not used. Groups of three rows are not repeated: their tiles have at least six
  // rows, unless there are only three.
  const std::size_t rows = TileRows::group_of(segment) == 3 ? terms : rounded_up(terms, 4);
  const std::size_t sums = rows * c.filters;
  const bool by_taps = c.padding > 0 && columns <= 32 && c.channels >= tile_rows;
  const auto memory = ConvolutionMemory<S>::of_this_thread(
      by_taps ? 0 : padded.memory(1),
      rounded_up(sums, line<S>) + (in_place ? 0 : (by_taps ? c.images : 1) * places * rounded_up(c.filters, line<S>)));
  S* const packed = memory.weights + rounded_up(sums, line<S>);
  const auto transpose = [&] {
    for (std::size_t f = 0; f < c.filters; ++f)
      for (std::size_t k = 0; k < terms; ++k) d_weight[f * terms + k] = memory.weights[k * c.filters + f];
  };
  if (by_taps) {
    if (!in_place) pack_rows<S>(c.images * places, c.filters, {dy, c.filters, 1}, packed);
    weights_by_taps<S>(c, x, in_place ? dy : packed, in_place ? c.filters : 0, memory.weights);
    return transpose();
  }
  padded.clear(memory.image, 1);
  // Places are added in parts of at most part_depth, or one row, as in matrix products.
  const std::size_t part_rows = columns < part_depth ? part_depth / columns : 1;
  TileTerms part{.depth = columns,
                 .a_row = 1,
                 .a_column = c.stride * c.channels,
                 .ldc = c.filters,
                 .add = false,
                 .a_jump = c.stride * (padded.width() - columns * c.channels)};
  const TileRows window(1, c.size, segment, 1, padded.width(), 0, rows - terms);
  part.places = window.places();
  for (std::size_t image = 0; image < c.images; ++image, dy += c.outputs()) {
    const S* const windows = padded.pad(x + image * c.inputs(), memory.image, 1);
    if (!in_place) pack_rows<S>(places, c.filters, {dy, c.filters, 1}, packed);
    for (std::size_t row = 0; row < c.out_rows(); row += part_rows, part.add = true) {
      part.segments = c.out_rows() - row < part_rows ? c.out_rows() - row : part_rows;
      for (std::size_t f = 0; f < c.filters; f += line<S>) {
        const std::size_t some = c.filters - f < line<S> ? c.filters - f : line<S>;
        const std::size_t b_row = in_place ? c.filters : panel_width<S>(some);
        const S* const b = (in_place ? dy + f : packed + f * places) + row * columns * b_row;
        window.multiply_panel(part, rows, some, windows + row * c.stride * padded.width(), b, b_row,
                              memory.weights + f);
      }
    }
  }
  transpose();
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
