// Implements the depthwise convolutions of convolution.hpp. A run is a sequence of outputs whose windows have the same
// taps within the image; tiles divide it (tiles/depthwise_tile.hpp). Most outputs are in one long run, and those near
// the padding in short ones. Forward passes of 3 x 3 with stride 1 or 2, and input gradients of 3 x 3 with stride 1 and
// padding below 3, use tiles/depthwise_row.hpp instead.
//
// The gradient of the input has runs for each remainder of a pixel's column modulo the stride. In the gradient of the
// weights, the outputs of a tile are the taps of one line, and the terms are pixels.
#pragma once

#include <cstddef>

#include "../../core/window_overlap.hpp"
#include "convolution.hpp"
#include "tiles/depthwise_row.hpp"
#include "tiles/depthwise_tile.hpp"

namespace algoperf {
namespace detail::tiled {
inline namespace ALGOPERF_SIMD {

// Along one axis, the outputs whose windows contain a pixel: `count` from `output` on. The first has it at `tap`, and
// each further one `stride` taps before.
struct OutputsOfPixel {
  std::size_t output, count, tap;
};
inline OutputsOfPixel outputs_of_pixel(std::size_t pixel, std::size_t outputs, const DepthwiseConvolution& c) {
  const std::size_t at = pixel + c.padding;
  const std::size_t begin = at < c.size ? 0 : (at - c.size) / c.stride + 1, last = at / c.stride + 1;
  const std::size_t end = last < outputs ? last : outputs;
  if (begin >= end) return {0, 0, 0};
  return {begin, end - begin, at - begin * c.stride};
}

// Calls f(first, count) for runs of elements [0, n): one of those in [begin, end), which are alike, if there are any,
// and one for each other element.
template <class F>
void for_each_run(std::size_t n, std::size_t begin, std::size_t end, const F& f) {
  if (end > n) end = n;
  if (begin >= end) begin = end = n;
  for (std::size_t i = 0; i < begin; ++i) f(i, std::size_t{1});
  if (begin < end) f(begin, end - begin);
  for (std::size_t i = end; i < n; ++i) f(i, std::size_t{1});
}

template <std::size_t stride, class S>
void convolve_rows(const DepthwiseConvolution& c, const S* x, const S* weight, const S* bias, S* y) {
  const std::size_t out_rows = c.out_rows(), out_cols = c.out_cols();
  const auto channels = static_cast<std::ptrdiff_t>(c.channels), cols = static_cast<std::ptrdiff_t>(c.cols);
  for (std::size_t image = 0; image < c.images; ++image, x += c.inputs(), y += c.outputs())
    for (std::size_t o = 0; o < out_rows; ++o) {
      const WindowOverlap down = taps_within(o, c.rows, c.size, stride, c.padding);
      depthwise_row<stride, S>({.lines = down.count,
                                .pixels = c.cols,
                                .padding = c.padding,
                                .outputs = out_cols,
                                .channels = c.channels,
                                .x = x + down.at * c.cols * c.channels,
                                .x_line = cols * channels,
                                .w = weight + down.begin * c.size * c.channels,
                                .w_line = static_cast<std::ptrdiff_t>(c.size) * channels,
                                .w_step = channels,
                                .start = bias,
                                .y = y + o * out_cols * c.channels});
    }
}

// Requires stride 1 and padding <= 2. Pixels of the input are outputs of a convolution with the weights reversed.
template <class S>
void convolve_rows_back(const DepthwiseConvolution& c, const S* dy, const S* weight, S* dx) {
  const std::size_t out_rows = c.out_rows(), out_cols = c.out_cols();
  const auto channels = static_cast<std::ptrdiff_t>(c.channels);
  for (std::size_t image = 0; image < c.images; ++image, dy += c.outputs(), dx += c.inputs())
    for (std::size_t r = 0; r < c.rows; ++r) {
      const OutputsOfPixel down = outputs_of_pixel(r, out_rows, c);
      depthwise_row<1, S>({.lines = down.count,
                           .pixels = out_cols,
                           .padding = c.size - 1 - c.padding,
                           .outputs = c.cols,
                           .channels = c.channels,
                           .x = dy + down.output * out_cols * c.channels,
                           .x_line = static_cast<std::ptrdiff_t>(out_cols) * channels,
                           .w = weight + (down.tap * c.size + c.size - 1) * c.channels,
                           .w_line = -static_cast<std::ptrdiff_t>(c.size) * channels,
                           .w_step = -channels,
                           .start = nullptr,
                           .y = dx + r * c.cols * c.channels});
    }
}

}  // namespace ALGOPERF_SIMD
}  // namespace detail::tiled

template <class S>
void convolve(const DepthwiseConvolution& c, const S* x, const S* weight, const S* bias, S* y) {
  using namespace detail::tiled;
  if (c.size == 3 && c.stride == 1) return convolve_rows<1>(c, x, weight, bias, y);
  if (c.size == 3 && c.stride == 2) return convolve_rows<2>(c, x, weight, bias, y);
  const auto channels = static_cast<std::ptrdiff_t>(c.channels), cols = static_cast<std::ptrdiff_t>(c.cols);
  const std::size_t out_rows = c.out_rows(), out_cols = c.out_cols();
  // The outputs whose windows lie within the image.
  const std::size_t begin = (c.padding + c.stride - 1) / c.stride, covered = c.cols + c.padding;
  const std::size_t end = covered < c.size ? 0 : (covered - c.size) / c.stride + 1;
  for (std::size_t image = 0; image < c.images; ++image, x += c.inputs(), y += c.outputs())
    for (std::size_t o = 0; o < out_rows; ++o) {
      const WindowOverlap down = taps_within(o, c.rows, c.size, c.stride, c.padding);
      for_each_run(out_cols, begin, end, [&](std::size_t q, std::size_t count) {
        const WindowOverlap across = taps_within(q, c.cols, c.size, c.stride, c.padding);
        depthwise_run<S>({.lines = across.count == 0 ? 0 : down.count,
                          .terms = across.count,
                          .x = x + (down.at * c.cols + across.at) * c.channels,
                          .x_line = cols * channels,
                          .x_step = channels,
                          .x_next = static_cast<std::ptrdiff_t>(c.stride) * channels,
                          .w = weight + (down.begin * c.size + across.begin) * c.channels,
                          .w_line = static_cast<std::ptrdiff_t>(c.size) * channels,
                          .w_step = channels,
                          .y = y + (o * out_cols + q) * c.channels,
                          .y_next = channels,
                          .start = bias,
                          .start_next = 0},
                         count, c.channels);
      });
    }
}

template <class S>
void convolve_back_to_input(const DepthwiseConvolution& c, const S* dy, const S* weight, S* dx) {
  using namespace detail::tiled;
  if (c.size == 3 && c.stride == 1 && c.padding < 3) return convolve_rows_back(c, dy, weight, dx);
  const auto channels = static_cast<std::ptrdiff_t>(c.channels), stride = static_cast<std::ptrdiff_t>(c.stride);
  const std::size_t out_rows = c.out_rows(), out_cols = c.out_cols();
  for (std::size_t image = 0; image < c.images; ++image, dy += c.outputs(), dx += c.inputs())
    for (std::size_t r = 0; r < c.rows; ++r) {
      const OutputsOfPixel down = outputs_of_pixel(r, out_rows, c);
      for (std::size_t phase = 0; phase < c.stride && phase < c.cols; ++phase) {
        // Pixels phase + u stride see equally many outputs, except before `begin` and from `end` on, where some of
        // these would lie before the first output or behind the last.
        const std::size_t first = phase + c.padding, pixels = (c.cols - phase - 1) / c.stride + 1;
        const std::size_t before = first + c.stride < c.size ? c.size - c.stride - first : 0;
        const std::size_t begin = (before + c.stride - 1) / c.stride, stop = out_cols * c.stride;
        const std::size_t end = first < stop ? (stop - first + c.stride - 1) / c.stride : 0;
        for_each_run(pixels, begin, end, [&](std::size_t u, std::size_t count) {
          const OutputsOfPixel across = outputs_of_pixel(phase + u * c.stride, out_cols, c);
          depthwise_run<S>({.lines = across.count == 0 ? 0 : down.count,
                            .terms = across.count,
                            .x = dy + (down.output * out_cols + across.output) * c.channels,
                            .x_line = static_cast<std::ptrdiff_t>(out_cols) * channels,
                            .x_step = channels,
                            .x_next = channels,
                            .w = weight + (down.tap * c.size + across.tap) * c.channels,
                            .w_line = -stride * static_cast<std::ptrdiff_t>(c.size) * channels,
                            .w_step = -stride * channels,
                            .y = dx + (r * c.cols + phase + u * c.stride) * c.channels,
                            .y_next = stride * channels,
                            .start = nullptr,
                            .start_next = 0},
                           count, c.channels);
        });
      }
    }
}

template <class S>
void convolve_back_to_weight(const DepthwiseConvolution& c, const S* x, const S* dy, S* d_weight) {
  using namespace detail::tiled;
  const auto channels = static_cast<std::ptrdiff_t>(c.channels), stride = static_cast<std::ptrdiff_t>(c.stride);
  const std::size_t out_rows = c.out_rows(), out_cols = c.out_cols();
  for (std::size_t k = 0; k < c.weights(); ++k) d_weight[k] = S(0);
  for (std::size_t image = 0; image < c.images; ++image, x += c.inputs(), dy += c.outputs())
    for (std::size_t i = 0; i < c.size; ++i) {
      const WindowOverlap down = outputs_within(i, c.rows, out_rows, c.stride, c.padding);
      // Adds the terms of outputs [first, first + count) to the gradients of `taps` taps from `tap` on. `col` is the
      // pixel that the first output has at that tap.
      const auto add = [&](std::size_t tap, std::size_t taps, std::size_t first, std::size_t count, std::size_t col) {
        if (count == 0 || down.count == 0) return;
        S* const sums = d_weight + (i * c.size + tap) * c.channels;
        depthwise_run<S>({.lines = down.count,
                          .terms = count,
                          .x = x + (down.at * c.cols + col) * c.channels,
                          .x_line = stride * static_cast<std::ptrdiff_t>(c.cols) * channels,
                          .x_step = stride * channels,
                          .x_next = channels,
                          .w = dy + (down.begin * out_cols + first) * c.channels,
                          .w_line = static_cast<std::ptrdiff_t>(out_cols) * channels,
                          .w_step = channels,
                          .y = sums,
                          .y_next = channels,
                          .start = sums,
                          .start_next = channels},
                         taps, c.channels);
      };
      // The outputs whose windows lie within the image have all taps of a line in common.
      const WindowOverlap first = outputs_within(0, c.cols, out_cols, c.stride, c.padding);
      const WindowOverlap last = outputs_within(c.size - 1, c.cols, out_cols, c.stride, c.padding);
      const std::size_t begin = first.begin, end = last.begin + last.count;
      const bool any = first.count > 0 && last.count > 0 && begin < end;
      if (any) add(0, c.size, begin, end - begin, first.at);
      for (std::size_t j = 0; j < c.size; ++j) {
        const WindowOverlap across = outputs_within(j, c.cols, out_cols, c.stride, c.padding);
        const std::size_t stop = across.begin + across.count;
        if (!any) {
          add(j, 1, across.begin, across.count, across.at);
          continue;
        }
        if (across.begin < begin) add(j, 1, across.begin, begin - across.begin, across.at);
        if (stop > end) add(j, 1, end, stop - end, across.at + (end - across.begin) * c.stride);
      }
    }
}

}  // namespace algoperf
