#pragma once

#include <type_traits>

#include "../../core/map_kernels.hpp"
#include "../concept.hpp"
#include "../window.hpp"

namespace algoperf {

// The mean of each channel in square windows: y[o, q, c] = mean over i, j of x[o stride + i, q stride + j, c].
// Shapes: in {rows, columns, channels}, out {(rows - size) / stride + 1, the same for columns, channels}; both
//   divisions round down. Rows and columns that no window reaches have gradient 0.
// Hyperparameters: size and stride at least 1. size = rows = columns pools a whole square image.
// Equivalent to torch's AvgPool2d without padding, except that stride does not follow size if it is left out.
// Cost: size^2 FLOPs per output each in forward and backward, and one per input in backward.
struct AveragePool {
  std::size_t size = 2;
  std::size_t stride = 2;

  struct Handles {};

  constexpr Shape output(Shape in) const { return window(in).output(in[2]); }
  constexpr std::uint64_t parameters(Shape) const { return 0; }
  template <class Tally>
  constexpr void count_forward(Shape in, std::uint64_t batch, Tally& tally) const {
    const std::uint64_t outputs = batch * output(in).size();
    tally.operation({"average pool", size * size * outputs, batch * in.size(), outputs});
  }
  template <class Tally>
  constexpr void count_backward(Shape in, std::uint64_t batch, bool input_gradient, Tally& tally) const {
    const std::uint64_t outputs = batch * output(in).size(), n = batch * in.size();
    if (input_gradient) tally.operation({"average pool, gradient", size * size * outputs + n, outputs, n});
  }
  constexpr LayerMemory memory(Shape) const { return {}; }

  Handles declare(Layout&, const std::string& name, Shape in) const {
    window(in).check(name, "AveragePool", in);
    return {};
  }

  // Computes one pixel of the output.
  template <class S>
  struct Forward {
    Window w;
    Arithmetic<S> share;
    const S* x;
    S* y;

    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
      const auto at = Window::place(r, w.out_rows, w.out_cols);
      const std::size_t corner = (at.image * w.rows + at.row * w.stride) * w.cols + at.col * w.stride;
      S* const out = y + r * w.channels;
      if constexpr (!std::is_same_v<S, Arithmetic<S>>) {  // sums in Arithmetic<S>, so that only the result is rounded
        const Forward self = *this;
        team.each(w.channels, [=](std::size_t c) {
          Arithmetic<S> total = 0;
          for (std::size_t i = 0; i < self.w.size; ++i)
            for (std::size_t j = 0; j < self.w.size; ++j)
              total += self.x[(corner + i * self.w.cols + j) * self.w.channels + c];
          out[c] = S(self.share * total);
        });
      } else {
        team.copy(w.channels, x + corner * w.channels, out);
        for (std::size_t i = 0; i < w.size; ++i)
          for (std::size_t j = i == 0; j < w.size; ++j)
            team.map(Add{}, w.channels, out, x + (corner + i * w.cols + j) * w.channels);
        team.map(Multiply<S>{share}, w.channels, out);
      }
    }
  };
  // Computes the gradient of one pixel of the input, from every window that contains it.
  template <class S>
  struct Backward {
    Window w;
    Arithmetic<S> share;
    const S* dy;
    S* dx;

    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
      const auto at = Window::place(r, w.rows, w.cols);
      const auto rows = w.covering(at.row, w.out_rows), cols = w.covering(at.col, w.out_cols);
      S* const d = dx + r * w.channels;
      if constexpr (!std::is_same_v<S, Arithmetic<S>>) {
        const Backward self = *this;
        team.each(w.channels, [=](std::size_t c) {
          Arithmetic<S> total = 0;
          for (std::size_t o = rows.begin; o < rows.end; ++o)
            for (std::size_t q = cols.begin; q < cols.end; ++q)
              total += self.dy[((at.image * self.w.out_rows + o) * self.w.out_cols + q) * self.w.channels + c];
          d[c] = S(self.share * total);
        });
      } else {
        team.each(w.channels, [d](std::size_t c) { d[c] = S(0); });
        for (std::size_t o = rows.begin; o < rows.end; ++o)
          for (std::size_t q = cols.begin; q < cols.end; ++q)
            team.map(Add{}, w.channels, d, dy + ((at.image * w.out_rows + o) * w.out_cols + q) * w.channels);
        team.map(Multiply<S>{share}, w.channels, d);
      }
    }
  };

  template <class B, class S>
  void forward(const LayerCall<B>& call, Handles, Shape in, const S* x, S* y) const {
    const Window w = window(in);
    call.backend.for_each_row(call.batch * w.out_rows * w.out_cols, size * size * w.channels,
                              Forward<S>{w, share<S>(), x, y});
  }
  template <class B, class S>
  void backward(const LayerCall<B>& call, Handles, Shape in, const S*, const S*, const S* dy, S* dx) const {
    if (dx == nullptr) return;
    const Window w = window(in);
    call.backend.for_each_row(call.batch * w.rows * w.cols, 2 * w.channels, Backward<S>{w, share<S>(), dy, dx});
  }

 private:
  constexpr Window window(Shape in) const { return {in, size, stride, 0}; }
  template <class S>
  Arithmetic<S> share() const {
    return static_cast<Arithmetic<S>>(1 / static_cast<double>(size * size));
  }
};

}  // namespace algoperf
