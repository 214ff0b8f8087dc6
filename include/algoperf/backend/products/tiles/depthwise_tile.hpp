// Computes runs of neighbouring outputs of depthwise convolutions with windows of any size. A tile is a few outputs by
// a few vectors of channels, whose sums stay in registers for all terms. Each output adds its terms in the same order,
// whatever tile computes it.
#pragma once

#include <cstddef>

#include "lanes.hpp"
#include "strips.hpp"

namespace algoperf::detail::tiled {
inline namespace ALGOPERF_SIMD {

// Outputs y[p y_next + c] = start[p start_next + c] + sum over i, j of
//   x[p x_next + i x_line + j x_step + c] w[i w_line + j w_step + c]
// for channels c, i below `lines` and j below `terms`, or without `start`, if it is null. `start` may be y.
template <class S>
struct DepthwiseSums {
  using Step = std::ptrdiff_t;
  std::size_t lines, terms;
  const S* x;
  Step x_line, x_step, x_next;
  const S* w;
  Step w_line, w_step;
  S* y;
  Step y_next;
  const S* start;
  Step start_next;
};

// Computes `outputs` outputs of `vectors` vectors of channels, of which the last has `last` channels if `cut`.
template <class S, std::size_t outputs, std::size_t vectors, bool cut = false>
[[gnu::always_inline]] inline void depthwise_tile(const DepthwiseSums<S>& sums, std::size_t channel,
                                                  std::size_t last = 0) {
  constexpr std::size_t n = width<S>;
  const auto take = [&](const S* from) ALGOPERF_INLINE_LAMBDA { return load_lanes<cut>(from, last); };
  const std::ptrdiff_t x_next = sums.x_next, x_step = sums.x_step, w_step = sums.w_step;
  Lanes<S> sum[outputs][vectors] = {};
  if (sums.start != nullptr)
    ALGOPERF_UNROLL for (std::size_t p = 0; p < outputs; ++p) ALGOPERF_UNROLL for (std::size_t v = 0; v < vectors; ++v)
        sum[p][v] = take(sums.start + static_cast<std::ptrdiff_t>(p) * sums.start_next + channel + v * n);
  const S *x_line = sums.x + channel, *w_line = sums.w + channel;
  for (std::size_t line = sums.lines; line > 0; --line, x_line += sums.x_line, w_line += sums.w_line) {
    const S *x = x_line, *w = w_line;
    for (std::size_t term = sums.terms; term > 0; --term, x += x_step, w += w_step) {
      Lanes<S> factor[vectors];
      ALGOPERF_UNROLL for (std::size_t v = 0; v < vectors; ++v) factor[v] = take(w + v * n);
      ALGOPERF_UNROLL for (std::size_t p = 0; p < outputs; ++p) {
        const S* const at = x + static_cast<std::ptrdiff_t>(p) * x_next;
        ALGOPERF_UNROLL for (std::size_t v = 0; v < vectors; ++v) sum[p][v] =
            add_product<S>(sum[p][v], take(at + v * n), factor[v]);
      }
    }
  }
  ALGOPERF_UNROLL for (std::size_t p = 0; p < outputs; ++p) ALGOPERF_UNROLL for (std::size_t v = 0; v < vectors; ++v) {
    S* const to = sums.y + static_cast<std::ptrdiff_t>(p) * sums.y_next + channel + v * n;
    store_lanes<cut, S>(sum[p][v], to, last);
  }
}

// The most vectors of a tile of `outputs` outputs whose sums fit in registers: 1, 2 or 4.
template <std::size_t outputs>
inline constexpr std::size_t depthwise_vectors = [] {
  constexpr std::size_t room = (many_registers ? 24 : 8) / outputs;
  return room >= 4 ? std::size_t{4} : room >= 2 ? std::size_t{2} : std::size_t{1};
}();

// Computes `outputs` outputs over the channels from `c` on, in tiles of `vectors` vectors or fewer.
template <std::size_t outputs, std::size_t vectors, class S>
void depthwise_channels(const DepthwiseSums<S>& sums, std::size_t c, std::size_t channels) {
  constexpr std::size_t n = width<S>;
  for (; c + vectors * n <= channels; c += vectors * n) depthwise_tile<S, outputs, vectors>(sums, c);
  if constexpr (vectors > 1)
    depthwise_channels<outputs, vectors / 2>(sums, c, channels);
  else if (c < channels)
    depthwise_tile<S, outputs, 1, true>(sums, c, channels - c);
}

// Computes `outputs` outputs at a time as long as there are enough.
template <std::size_t outputs, class S>
[[gnu::noinline]] void depthwise_tiles(DepthwiseSums<S>& sums, std::size_t& count, std::size_t channels) {
  for (; count >= outputs; count -= outputs) {
    depthwise_channels<outputs, depthwise_vectors<outputs>>(sums, 0, channels);
    constexpr auto moved = static_cast<std::ptrdiff_t>(outputs);
    sums.x += moved * sums.x_next;
    sums.y += moved * sums.y_next;
    if (sums.start != nullptr) sums.start += moved * sums.start_next;
  }
}

// Computes a run of outputs.
template <class S>
void depthwise_run(DepthwiseSums<S> sums, std::size_t count, std::size_t channels) {
  depthwise_tiles<6>(sums, count, channels);
  depthwise_tiles<3>(sums, count, channels);
  depthwise_tiles<2>(sums, count, channels);
  depthwise_tiles<1>(sums, count, channels);
}

}  // namespace ALGOPERF_SIMD
}  // namespace algoperf::detail::tiled
