#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "../../backend/convolution.hpp"
#include "../../core/window_overlap.hpp"
#include "../concept.hpp"
#include "../init.hpp"
#include "../window.hpp"

namespace algoperf {

// A two-dimensional convolution of each channel by itself, over images of rows x columns x channels:
//   y[o, q, c] = b[c] + sum over i, j of W[i, j, c] x[o stride + i - padding, q stride + j - padding, c]
// Shapes: in {rows, columns, channels}, out {(rows + 2 padding - size) / stride + 1, the same for columns, channels},
//   both divisions rounded down; `weight` {size, size, channels}, `bias` {channels}.
// Hyperparameters: size, stride, padding and bias as in Conv2d.
// Initial values: W by `init`, the model's by default, with fan in and fan out size^2; b zeros.
// Source: Howard et al. 2017, "MobileNets", arXiv:1704.04861, section 3.1. With a Conv2d of size 1 behind it, it is a
//   depthwise separable convolution.
// Equivalent to torch's Conv2d with as many groups as channels, whose weight is {channels, 1, size, size}.
// Cost: 2 FLOPs per output and term that lies within the image forward, and 4 backward. Keeps size^2 values per example
//   and channel, the example's gradient of W, which Host does not use.
struct DepthwiseConv2d {
  std::size_t size = 3;
  std::size_t stride = 1;
  std::size_t padding = 0;
  Init init = Init::standard;
  bool bias = true;

  struct Handles {
    TensorHandle weight, bias = {};
  };

  constexpr Shape output(Shape in) const { return window(in).output(in[2]); }
  constexpr std::uint64_t parameters(Shape in) const { return weights(in) + (bias ? in[2] : 0); }
  template <class Tally>
  constexpr void count_forward(Shape in, std::uint64_t batch, Tally& tally) const {
    const std::uint64_t read = batch * in.size() + parameters(in);
    tally.operation({"depthwise convolution", 2 * batch * terms(in), read, batch * output(in).size()});
  }
  template <class Tally>
  constexpr void count_backward(Shape in, std::uint64_t batch, bool input_gradient, Tally& tally) const {
    const std::uint64_t outputs = batch * output(in).size(), products = 2 * batch * terms(in);
    if (bias) tally.operation({"bias gradient", outputs, outputs, in[2]});
    tally.operation({"depthwise convolution, weight gradient", products + batch * weights(in),
                     batch * in.size() + outputs + batch * weights(in), (batch + 1) * weights(in)});
    if (input_gradient)
      tally.operation({"depthwise convolution, input gradient", products, outputs + weights(in), batch * in.size()});
  }
  constexpr LayerMemory memory(Shape in) const { return {.exact = weights(in)}; }

  Handles declare(Layout& layout, const std::string& name, Shape in) const {
    window(in).check(name, "DepthwiseConv2d", in);
    Handles handles{layout.add({name + ".weight", Kind::conv_weight, {size, size, in[2]}})};
    if (bias) handles.bias = layout.add({name + ".bias", Kind::bias, {in[2]}});
    return handles;
  }
  template <class S>
  void initialize(Initializer<S>& set, const Handles& h, Shape) const {
    set(h.weight, init, size * size, size * size);
    if (bias) set(h.bias, Init::zeros);
  }

  // Computes one pixel of the output.
  template <class S>
  struct Forward {
    using T = Arithmetic<S>;
    Window w;
    const T *weight, *bias;  // bias may be null
    const S* x;
    S* y;

    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
      const Forward a = *this;
      const auto at = Window::place(r, w.out_rows, w.out_cols);
      const WindowOverlap down = taps_within(at.row, w.rows, w.size, w.stride, w.padding);
      const WindowOverlap across = taps_within(at.col, w.cols, w.size, w.stride, w.padding);
      const S* const corner = x + ((at.image * w.rows + down.at) * w.cols + across.at) * w.channels;
      const T* const first = weight + (down.begin * w.size + across.begin) * w.channels;
      S* const to = y + r * w.channels;
      team.each(w.channels, [=](std::size_t c) {
        T sum = a.bias != nullptr ? a.bias[c] : T(0);
        for (std::size_t i = 0; i < down.count; ++i)
          for (std::size_t j = 0; j < across.count; ++j)
            sum += first[(i * a.w.size + j) * a.w.channels + c] * T(corner[(i * a.w.cols + j) * a.w.channels + c]);
        to[c] = S(sum);
      });
    }
  };
  // Computes the gradient of one pixel of the input, from every window that contains it.
  template <class S>
  struct BackToInput {
    using T = Arithmetic<S>;
    Window w;
    const T* weight;
    const S* dy;
    S* dx;

    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
      const BackToInput a = *this;
      const auto at = Window::place(r, w.rows, w.cols);
      const auto rows = w.covering(at.row, w.out_rows), cols = w.covering(at.col, w.out_cols);
      const bool any = rows.begin < rows.end && cols.begin < cols.end;
      S* const to = dx + r * w.channels;
      team.each(w.channels, [=](std::size_t c) {
        T sum = 0;
        for (std::size_t o = rows.begin; any && o < rows.end; ++o)
          for (std::size_t q = cols.begin; q < cols.end; ++q)
            sum += a.weight[(a.w.within(at.row, o) * a.w.size + a.w.within(at.col, q)) * a.w.channels + c] *
                   T(a.dy[((at.image * a.w.out_rows + o) * a.w.out_cols + q) * a.w.channels + c]);
        to[c] = S(sum);
      });
    }
  };
  // Computes the gradient of W from one example.
  template <class S>
  struct BackToWeight {
    using T = Arithmetic<S>;
    Window w;
    const S *x, *dy;
    T* of_examples;

    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t e) const {
      const BackToWeight a = *this;
      const S* const pixels = x + e * w.rows * w.cols * w.channels;
      const S* const slopes = dy + e * w.out_rows * w.out_cols * w.channels;
      T* const to = of_examples + e * w.size * w.size * w.channels;
      team.each(w.size * w.size * w.channels, [=](std::size_t at) {
        const std::size_t tap = at / a.w.channels, c = at % a.w.channels;
        const WindowOverlap down = outputs_within(tap / a.w.size, a.w.rows, a.w.out_rows, a.w.stride, a.w.padding);
        const WindowOverlap across = outputs_within(tap % a.w.size, a.w.cols, a.w.out_cols, a.w.stride, a.w.padding);
        T sum = 0;
        for (std::size_t k = 0; k < down.count; ++k)
          for (std::size_t l = 0; l < across.count; ++l)
            sum += T(slopes[((down.begin + k) * a.w.out_cols + across.begin + l) * a.w.channels + c]) *
                   T(pixels[((down.at + k * a.w.stride) * a.w.cols + across.at + l * a.w.stride) * a.w.channels + c]);
        to[at] = sum;
      });
    }
  };

  template <class B, class S>
  void forward(const LayerCall<B>& call, const Handles& h, Shape in, const S* x, S* y) const {
    const Window w = window(in);
    const auto* const added = bias ? call.value(h.bias) : nullptr;
    if constexpr (ConvolvingBackend<B, DepthwiseConvolution>)
      call.backend.convolution(parameters_of(w, call.batch)).forward(x, call.value(h.weight), added, y);
    else
      call.backend.for_each_row(call.batch * w.out_rows * w.out_cols, size * size * w.channels,
                                Forward<S>{w, call.value(h.weight), added, x, y});
  }
  template <class B, class S>
  void backward(const LayerCall<B>& call, const Handles& h, Shape in, const S* x, const S*, const S* dy, S* dx) const {
    const Window w = window(in);
    if (bias) call.backend.column_sums(call.batch * w.out_rows * w.out_cols, w.channels, dy, call.gradient(h.bias));
    if constexpr (ConvolvingBackend<B, DepthwiseConvolution>) {
      const auto convolution = call.backend.convolution(parameters_of(w, call.batch));
      convolution.back_to_weight(x, dy, call.gradient(h.weight));
      if (dx != nullptr) convolution.back_to_input(dy, call.value(h.weight), dx);
    } else {
      call.backend.for_each_row(call.batch, w.out_rows * w.out_cols * weights(in),
                                BackToWeight<S>{w, x, dy, call.exact});
      call.backend.column_sums(call.batch, weights(in), static_cast<const Arithmetic<S>*>(call.exact),
                               call.gradient(h.weight));
      if (dx != nullptr)
        call.backend.for_each_row(call.batch * w.rows * w.cols, size * size * w.channels,
                                  BackToInput<S>{w, call.value(h.weight), dy, dx});
    }
  }

 private:
  constexpr Window window(Shape in) const { return {in, size, stride, padding}; }
  static DepthwiseConvolution parameters_of(const Window& w, std::size_t batch) {
    return {batch, w.rows, w.cols, w.channels, w.size, w.stride, w.padding};
  }
  constexpr std::uint64_t weights(Shape in) const { return size * size * in[2]; }
  // The products of one example.
  constexpr std::uint64_t terms(Shape in) const {
    const Window w = window(in);
    return w.covered(w.rows, w.out_rows) * w.covered(w.cols, w.out_cols) * w.channels;
  }
};

}  // namespace algoperf
