// Convolution: what a backend is told that has better convolutions than products of unrolled windows.
//
// Images {rows, cols, channels} and outputs {out_rows, out_cols, filters}, one after the other; weights {filters, size,
// size, channels}; as nn/layers/conv2d.hpp has them.
#pragma once

#include <cstddef>

#include "../core/config.hpp"

namespace algoperf {

// images > 0, and the window fits the padded image.
struct Convolution {
  std::size_t images, rows, cols, channels, filters, size, stride, padding;

  constexpr std::size_t out_rows() const { return (rows + 2 * padding - size) / stride + 1; }
  constexpr std::size_t out_cols() const { return (cols + 2 * padding - size) / stride + 1; }
  constexpr std::size_t inputs() const { return rows * cols * channels; }  // an image's
  constexpr std::size_t outputs() const { return out_rows() * out_cols() * filters; }
  constexpr std::size_t weights() const { return filters * size * size * channels; }
  friend bool operator==(const Convolution&, const Convolution&) = default;
};

// backend.convolution(c) has forward(x, weight, bias, y), back_to_input(dy, weight, dx) and back_to_weight(x, dy,
// d_weight), which put the gradients of x and of weight in their place.
template <class B>
concept ConvolvingBackend = requires(const B& backend, const Convolution& c) {
  backend.convolution(c);
};

}  // namespace algoperf
