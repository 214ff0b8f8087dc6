// Computes rows of depthwise convolutions with windows of three columns. A tile computes up to 8 neighbouring outputs
// for one or two vectors of channels. For each line of the window, it loads each pixel once and adds it to all outputs
// whose windows contain it, so that its loads do not limit its speed. Terms in the padding are skipped; with
// eight outputs, padding of one column costs no tests.
#pragma once

#include <cstddef>

#include "lanes.hpp"
#include "strips.hpp"

namespace algoperf::detail::tiled {
inline namespace ALGOPERF_SIMD {

// y[q channels + c] = start[c] + sum over i, j of
//   x[i x_line + (q stride + j - padding) channels + c] w[i w_line + j w_step + c]
// for channels c, i below `lines` and j below 3. Pixels q stride + j - padding outside of [0, pixels) are skipped. A
// null `start` counts as zeros.
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

// Which pixels of the windows of a tile are skipped: the first `before`, the last `behind`, and, if it `checks`, those
// outside of the row.
template <std::size_t before_, std::size_t behind_, bool checks_ = false>
struct Skipped {
  static constexpr std::size_t before = before_, behind = behind_;
  static constexpr bool checks = checks_;
};

// Computes `outputs` outputs from q on, for `vectors` vectors of channels from `channel` on. `cut`: there is one
// vector, of which only the first `last` channels exist.
template <class S, std::size_t stride, std::size_t outputs, std::size_t vectors, class Skips, bool cut = false>
[[gnu::always_inline]] inline void depthwise_row_tile(const DepthwiseRow<S>& row, std::size_t q, std::size_t channel,
                                                      std::size_t last = 0) {
  static_assert(!cut || vectors == 1);
  constexpr std::size_t n = width<S>, pixels = (outputs - 1) * stride + 3;
  const auto take = [&](const S* from) ALGOPERF_INLINE_LAMBDA { return load_lanes<cut>(from, last); };
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
    // Up to 17 pixels, which ALGOPERF_UNROLL would not unroll wholly.
    _Pragma("GCC unroll 32") for (std::size_t k = Skips::before; k < pixels - Skips::behind; ++k) {
      if (Skips::checks && first + k >= row.pixels) continue;
      at = k == Skips::before || Skips::checks ? line + (first + k) * row.channels : at + row.channels;
      asm("" : "+r"(at));  // otherwise g++ keeps the address of each pixel in a register, of which there are too few
      ALGOPERF_UNROLL for (std::size_t v = 0; v < vectors; ++v) {
        Lanes<S> pixel = take(at + v * n);
        keep_in_register<S>(pixel);
        // The next row of outputs reads `stride` lines that this one does not. Prefetching them was measured on Zen 3.
        if (!many_registers && i <= stride)
          __builtin_prefetch(at + v * n + static_cast<std::ptrdiff_t>(stride) * row.x_line);
        ALGOPERF_UNROLL for (std::size_t p = 0; p < outputs; ++p) if (p * stride <= k && k < p * stride + 3) sum[p][v] =
            add_product<S>(sum[p][v], pixel, factor[k - p * stride][v]);
      }
    }
  }
  ALGOPERF_UNROLL for (std::size_t p = 0; p < outputs; ++p) ALGOPERF_UNROLL for (std::size_t v = 0; v < vectors; ++v) {
    S* const to = row.y + (q + p) * row.channels + channel + v * n;
    store_lanes<cut, S>(sum[p][v], to, last);
  }
}

// Computes `outputs` outputs from q on.
template <class S, std::size_t stride, std::size_t outputs, class Skips>
[[gnu::noinline]] void depthwise_row_channels(const DepthwiseRow<S>& row, std::size_t q) {
  // The sums of 8 outputs by this many vectors fit in the registers.
  constexpr std::size_t n = width<S>, vectors = many_registers ? 2 : 1;
  std::size_t c = 0;
  for (; c + vectors * n <= row.channels; c += vectors * n)
    depthwise_row_tile<S, stride, outputs, vectors, Skips>(row, q, c);
  if constexpr (vectors > 1)
    if (c + n <= row.channels) {
      depthwise_row_tile<S, stride, outputs, 1, Skips>(row, q, c);
      c += n;
    }
  if (c < row.channels) depthwise_row_tile<S, stride, outputs, 1, Skips, true>(row, q, c, row.channels - c);
}

// Computes the outputs, `outputs` at a time. If `outputs` does not divide their number, the last tile overlaps the one
// before it and computes the same values again.
template <class S, std::size_t stride, std::size_t outputs>
void depthwise_row_tiles(const DepthwiseRow<S>& row) {
  for (std::size_t q = 0; q < row.outputs; q += outputs) {
    const std::size_t from = q + outputs <= row.outputs ? q : row.outputs - outputs;
    if constexpr (outputs == 8) {
      const std::size_t first = from * stride, end = first + (outputs - 1) * stride + 3;
      const std::size_t before = first < row.padding ? row.padding - first : 0;  // pixels
      const std::size_t behind = end > row.pixels + row.padding ? end - row.pixels - row.padding : 0;
      using Compute = void (*)(const DepthwiseRow<S>&, std::size_t);
      static constexpr Compute compute[2][2] = {
          {depthwise_row_channels<S, stride, 8, Skipped<0, 0>>, depthwise_row_channels<S, stride, 8, Skipped<0, 1>>},
          {depthwise_row_channels<S, stride, 8, Skipped<1, 0>>, depthwise_row_channels<S, stride, 8, Skipped<1, 1>>}};
      if (before <= 1 && behind <= 1) {
        compute[before][behind](row, from);
        continue;
      }
    }
    depthwise_row_channels<S, stride, outputs, Skipped<0, 0, true>>(row, from);
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
