// Convolution, DepthwiseConvolution: the parameters of a convolution, for backends with a faster implementation than
// matrix products of unrolled windows, or a loop over pixels.
//
// Images {rows, cols, channels} and outputs {out_rows, out_cols, filters} are contiguous. Weights are {filters, size,
// size, channels}. nn/layers/conv2d.hpp uses the same layout.
#pragma once

#include <cstddef>

#include "../core/config.hpp"

namespace algoperf {

// Requires images > 0 and a window that fits the padded image.
struct Convolution {
  std::size_t images, rows, cols, channels, filters, size, stride, padding;

  ALGOPERF_INLINE constexpr std::size_t out_rows() const { return (rows + 2 * padding - size) / stride + 1; }
  ALGOPERF_INLINE constexpr std::size_t out_cols() const { return (cols + 2 * padding - size) / stride + 1; }
  ALGOPERF_INLINE constexpr std::size_t inputs() const { return rows * cols * channels; }              // per image
  ALGOPERF_INLINE constexpr std::size_t outputs() const { return out_rows() * out_cols() * filters; }  // per image
  ALGOPERF_INLINE constexpr std::size_t weights() const { return filters * size * size * channels; }
  friend bool operator==(const Convolution&, const Convolution&) = default;
};

// A convolution of each channel by itself. Weights are {size, size, channels}, as in nn/layers/depthwise_conv2d.hpp.
struct DepthwiseConvolution {
  std::size_t images, rows, cols, channels, size, stride, padding;

  ALGOPERF_INLINE constexpr std::size_t out_rows() const { return (rows + 2 * padding - size) / stride + 1; }
  ALGOPERF_INLINE constexpr std::size_t out_cols() const { return (cols + 2 * padding - size) / stride + 1; }
  ALGOPERF_INLINE constexpr std::size_t inputs() const { return rows * cols * channels; }               // per image
  ALGOPERF_INLINE constexpr std::size_t outputs() const { return out_rows() * out_cols() * channels; }  // per image
  ALGOPERF_INLINE constexpr std::size_t weights() const { return size * size * channels; }
};

// backend.convolution(c) returns an object with forward(x, weight, bias, y), whose bias may be null,
// back_to_input(dy, weight, dx) and back_to_weight(x, dy, d_weight). The last two overwrite dx and d_weight with the
// gradients of x and of weight.
template <class B, class Parameters = Convolution>
concept ConvolvingBackend = requires(const B& backend, const Parameters& c) {
  backend.convolution(c);
};

}  // namespace algoperf
