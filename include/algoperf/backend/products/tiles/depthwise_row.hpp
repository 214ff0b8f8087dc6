// Rows of depthwise convolutions whose windows have three columns. A tile is a few neighbouring outputs by a few
// vectors of channels. It loads each pixel once per line of the window, for all windows that contain it, so that the
// additions rather than the loads limit its speed. At the ends of a row, it leaves out the terms in the padding.
#pragma once

#include <cstddef>

#include "lanes.hpp"

namespace algoperf::detail::tiled {
inline namespace ALGOPERF_SIMD {

// Output q of a row is start[c] + sum over i, j of
//   x[i x_line + (q stride + j - padding) channels + c] w[i w_line + j w_step + c]
// for channels c, i below `lines` and j below 3, without the terms whose pixel q stride + j - padding is not below
// `pixels`. Without `start`, if it is null.
template <class S>
struct DepthwiseRow {
  std::size_t lines, pixels, padding, outputs, channels;
  const S* x;
  std::ptrdiff_t x_line;
  const S* w;
  std::ptrdiff_t w_line, w_step;
  const S* start;
  S* y;
};

// Computes `outputs` outputs from q on, of `vectors` vectors of channels, of which the last has `last` channels if
// `cut`. `inside`: no term lies in the padding.
template <class S, std::size_t stride, std::size_t outputs, std::size_t vectors, bool inside, bool cut = false>
[[gnu::always_inline]] inline void depthwise_row_tile(const DepthwiseRow<S>& row, std::size_t q, std::size_t channel,
                                                      std::size_t last = 0) {
  constexpr std::size_t n = width<S>, pixels = (outputs - 1) * stride + 3;
  const auto take = [&](const S* from) ALGOPERF_INLINE_LAMBDA {
    if constexpr (cut)
      return load_first(from, last);
    else
      return load(from);
  };
  Lanes<S> sum[outputs][vectors] = {};
  if (row.start != nullptr) ALGOPERF_UNROLL for (std::size_t v = 0; v < vectors; ++v) {
      const Lanes<S> start = take(row.start + channel + v * n);
      ALGOPERF_UNROLL for (std::size_t p = 0; p < outputs; ++p) sum[p][v] = start;
    }
  const std::size_t first = q * stride - row.padding;  // wraps around if it lies before the row
  const S *line = row.x + channel, *w = row.w + channel;
  for (std::size_t i = row.lines; i > 0; --i, line += row.x_line, w += row.w_line) {
    Lanes<S> factor[3][vectors];
    ALGOPERF_UNROLL for (std::size_t v = 0; v < vectors; ++v) {
      factor[0][v] = take(w + v * n);
      factor[1][v] = take(w + row.w_step + v * n);
      factor[2][v] = take(w + 2 * row.w_step + v * n);
    }
    const S* at = line;
    ALGOPERF_UNROLL for (std::size_t k = 0; k < pixels; ++k) {
      if (!inside && first + k >= row.pixels) continue;
      at = k == 0 || !inside ? line + (first + k) * row.channels : at + row.channels;
      asm("" : "+r"(at));  // otherwise g++ keeps the address of each pixel in a register, of which there are too few
      ALGOPERF_UNROLL for (std::size_t v = 0; v < vectors; ++v) {
        Lanes<S> pixel = take(at + v * n);
        keep_in_register<S>(pixel);
        ALGOPERF_UNROLL for (std::size_t p = 0; p < outputs; ++p) if (p * stride <= k && k < p * stride + 3) sum[p][v] =
            sum[p][v] + pixel * factor[k - p * stride][v];
      }
    }
  }
  ALGOPERF_UNROLL for (std::size_t p = 0; p < outputs; ++p) ALGOPERF_UNROLL for (std::size_t v = 0; v < vectors; ++v) {
    S* const to = row.y + (q + p) * row.channels + channel + v * n;
    if constexpr (cut)
      store_first<S>(sum[p][v], to, last);
    else
      store<S>(sum[p][v], to);
  }
}

// Computes `outputs` outputs from q on.
template <class S, std::size_t stride, std::size_t outputs, bool inside>
[[gnu::noinline]] void depthwise_row_channels(const DepthwiseRow<S>& row, std::size_t q) {
  constexpr std::size_t n = width<S>, vectors = native_vector_bytes == 64 ? 2 : 1;  // whose sums fit in registers
  std::size_t c = 0;
  for (; c + vectors * n <= row.channels; c += vectors * n)
    depthwise_row_tile<S, stride, outputs, vectors, inside>(row, q, c);
  if (vectors > 1 && c + n <= row.channels) {
    depthwise_row_tile<S, stride, outputs, 1, inside>(row, q, c);
    c += n;
  }
  if (c < row.channels) depthwise_row_tile<S, stride, outputs, 1, inside, true>(row, q, c, row.channels - c);
}

// Computes the outputs, `outputs` at a time. Unless their number is a multiple, the last tile overlaps the one before
// it and computes the same values again.
template <class S, std::size_t stride, std::size_t outputs>
void depthwise_row_tiles(const DepthwiseRow<S>& row) {
  constexpr bool may_be_inside = outputs >= 8;  // in short rows, few tiles are
  for (std::size_t q = 0; q < row.outputs; q += outputs) {
    const std::size_t from = q + outputs <= row.outputs ? q : row.outputs - outputs;
    const bool inside = from * stride >= row.padding && (from + outputs - 1) * stride + 3 <= row.pixels + row.padding;
    if (may_be_inside && inside)
      depthwise_row_channels<S, stride, outputs, may_be_inside>(row, from);
    else
      depthwise_row_channels<S, stride, outputs, false>(row, from);
  }
}

template <std::size_t stride, class S>
void depthwise_row(const DepthwiseRow<S>& row) {
  if (row.outputs >= 8)
    depthwise_row_tiles<S, stride, 8>(row);
  else if (row.outputs >= 4)
    depthwise_row_tiles<S, stride, 4>(row);
  else
    depthwise_row_tiles<S, stride, 1>(row);
}

}  // namespace ALGOPERF_SIMD
}  // namespace algoperf::detail::tiled
