#pragma once

#include "../../core/math.hpp"
#include "../concept.hpp"
#include "../window.hpp"

namespace algoperf {

// The largest value of each channel in square windows: y[o, q, c] = max over i, j of x[o stride + i, q stride + j, c].
// Shapes: in {rows, columns, channels}, out {(rows - size) / stride + 1, the same for columns, channels}; both
//   divisions round down. Rows and columns that no window reaches are ignored and have gradient 0.
// Hyperparameters: size and stride at least 1; they may differ, and windows overlap if size > stride.
// Among equal values, the first in row-major order is chosen, in forward and in backward. NaN is chosen over any other
//   value. torch does the same; unlike torch, there is no padding, and stride does not follow size if it is left out.
// Cost: 2 (size^2 - 1) FLOPs per output forward: comparisons for the value and for its position. Backward: one addition
//   per input element for each window beyond the first that contains it. Keeps one value per output, the position of
//   its maximum.
struct MaxPool {
  std::size_t size = 2;
  std::size_t stride = 2;

  struct Handles {};

  constexpr Shape output(Shape in) const { return window(in).output(in[2]); }
  constexpr std::uint64_t parameters(Shape) const { return 0; }
  template <class Tally>
  constexpr void count_forward(Shape in, std::uint64_t batch, Tally& tally) const {
    const std::uint64_t outputs = batch * output(in).size();
    tally.operation({"max pool", 2 * (size * size - 1) * outputs, batch * in.size(), 2 * outputs});
  }
  template <class Tally>
  constexpr void count_backward(Shape in, std::uint64_t batch, bool input_gradient, Tally& tally) const {
    const std::uint64_t outputs = batch * output(in).size();
    if (input_gradient)
      tally.operation(
          {"max pool, gradient", batch * window(in).covered_again() * in[2], 2 * outputs, batch * in.size()});
  }
  constexpr LayerMemory memory(Shape in) const { return {output(in).size(), 0}; }

  Handles declare(Layout&, const std::string& name, Shape in) const {
    window(in).check(name, "MaxPool", in);
    return {};
  }

  // Returns whether x replaces the largest value so far.
  template <class T>
  static ALGOPERF_HD auto wins(T x, T best) {
    return x > best || x != x;
  }
  struct Larger {
    template <class T>
    ALGOPERF_HD T operator()(T best, T x) const {
      return math::select<T>(wins(x, best), x, best);
    }
  };
  template <class S>
  struct Winner {
    Arithmetic<S> offset;
    template <class T>
    ALGOPERF_HD T operator()(T at, T best, T x) const {
      return math::select<T>(wins(x, best), T(offset), at);
    }
  };
  // Sets both for the pixels of a 2 x 2 window, in row-major order.
  template <class S>
  struct LargestOfFour {
    template <class T>
    ALGOPERF_HD void operator()(T& best, T& at, T x0, T x1, T x2, T x3) const {
      at = Winner<S>{1}(T(Arithmetic<S>(0)), x0, x1);
      best = Larger{}(x0, x1);
      at = Winner<S>{2}(at, best, x2);
      best = Larger{}(best, x2);
      at = Winner<S>{3}(at, best, x3);
      best = Larger{}(best, x3);
    }
  };
  // The gradient of a window's maximum: Route overwrites d, RouteMore adds to d.
  template <class S>
  struct Route {
    Arithmetic<S> offset;
    template <class T>
    ALGOPERF_HD T operator()(T, T at, T dy) const {
      return math::select<T>(at == T(offset), dy, T(Arithmetic<S>(0)));
    }
  };
  template <class S>
  struct RouteMore {
    Arithmetic<S> offset;
    template <class T>
    ALGOPERF_HD T operator()(T d, T at, T dy) const {
      return d + math::select<T>(at == T(offset), dy, T(Arithmetic<S>(0)));
    }
  };

  // Computes one line of the output.
  template <class S>
  struct Forward {
    static constexpr bool elementwise = true;
    Window w;
    const S* x;
    S* y;
    S* winners;  // size * i + j of the maximum at (i, j) of the window

    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
      const std::size_t image = r / w.out_rows, row = r - image * w.out_rows;
      const S* const line = x + (image * w.rows + row * w.stride) * w.cols * w.channels;
      S* const best = y + r * w.out_cols * w.channels;
      S* const winner = winners + r * w.out_cols * w.channels;
      if constexpr (Team::size > 1) {
        const Window window = w;
        team.each(w.out_cols * w.channels, [=](std::size_t k) {
          const std::size_t q = k / window.channels, c = k - q * window.channels;
          const S* const corner = line + q * window.stride * window.channels + c;
          Arithmetic<S> most = corner[0], at_most = 0;
          for (std::size_t i = 0; i < window.size; ++i)
            for (std::size_t j = i == 0; j < window.size; ++j) {
              const Arithmetic<S> other = corner[(i * window.cols + j) * window.channels];
              at_most = Winner<S>{static_cast<Arithmetic<S>>(i * window.size + j)}(at_most, most, other);
              most = Larger{}(most, other);
            }
          best[k] = S(most);
          winner[k] = S(at_most);
        });
      } else {
        for (std::size_t q = 0; q < w.out_cols; ++q)
          pixel(team, line + q * w.stride * w.channels, best + q * w.channels, winner + q * w.channels);
      }
    }

    template <class Team>
    ALGOPERF_HD void pixel(const Team& team, const S* corner, S* best, S* winner) const {
      if (w.size == 2) {
        const S *const right = corner + w.channels, *const below = corner + w.cols * w.channels;
        return team.map_to_two(LargestOfFour<S>{}, w.channels, best, winner, corner, right, below, below + w.channels);
      }
      team.copy(w.channels, corner, best);
      team.each(w.channels, [winner](std::size_t c) { winner[c] = S(0); });
      for (std::size_t i = 0; i < w.size; ++i)
        for (std::size_t j = i == 0; j < w.size; ++j) {
          const S* const other = corner + (i * w.cols + j) * w.channels;
          team.map(Winner<S>{static_cast<Arithmetic<S>>(i * w.size + j)}, w.channels, winner, best, other);
          team.map(Larger{}, w.channels, best, other);
        }
    }
  };
  // Computes the gradient of one pixel of the input: the sum of the gradients of those outputs whose maximum it is.
  template <class S>
  struct Backward {
    static constexpr bool elementwise = true;
    Window w;
    const S* winners;
    const S* dy;
    S* dx;

    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
      const auto at = Window::place(r, w.rows, w.cols);
      pixel(team, at, w.covering(at.row, w.out_rows));
    }

    template <class Team>
    ALGOPERF_HD void pixel(const Team& team, Window::Place at, Window::Range rows) const {
      const auto cols = w.covering(at.col, w.out_cols);
      S* const d = dx + ((at.image * w.rows + at.row) * w.cols + at.col) * w.channels;
      if constexpr (Team::size > 1) {
        const Backward self = *this;
        team.each(w.channels, [=](std::size_t c) {
          Arithmetic<S> total = 0;
          for (std::size_t o = rows.begin; o < rows.end; ++o)
            for (std::size_t q = cols.begin; q < cols.end; ++q) {
              const std::size_t from = self.first_channel(at, o, q) + c;
              total = RouteMore<S>{self.offset(at, o, q)}(total, Arithmetic<S>(self.winners[from]),
                                                          Arithmetic<S>(self.dy[from]));
            }
          d[c] = S(total);
        });
      } else {
        bool first = true;
        for (std::size_t o = rows.begin; o < rows.end; ++o)
          for (std::size_t q = cols.begin; q < cols.end; ++q) {
            const std::size_t from = first_channel(at, o, q);
            if (first)
              team.map(Route<S>{offset(at, o, q)}, w.channels, d, winners + from, dy + from);
            else
              team.map(RouteMore<S>{offset(at, o, q)}, w.channels, d, winners + from, dy + from);
            first = false;
          }
        if (first) team.each(w.channels, [d](std::size_t c) { d[c] = S(0); });
      }
    }
    // Returns where the channels of output (o, q) begin.
    ALGOPERF_HD std::size_t first_channel(Window::Place at, std::size_t o, std::size_t q) const {
      return ((at.image * w.out_rows + o) * w.out_cols + q) * w.channels;
    }
    // Returns the number that stands for pixel `at` in the window of output (o, q).
    ALGOPERF_HD Arithmetic<S> offset(Window::Place at, std::size_t o, std::size_t q) const {
      return static_cast<Arithmetic<S>>(w.within(at.row, o) * w.size + w.within(at.col, q));
    }
  };
  // The same for one line of the input. The host has few threads, and this saves divisions.
  template <class S>
  struct BackwardOfLine {
    Backward<S> backward;

    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
      const Window& w = backward.w;
      const std::size_t image = r / w.rows, row = r - image * w.rows;
      const auto rows = w.covering(row, w.out_rows);
      for (std::size_t col = 0; col < w.cols; ++col) backward.pixel(team, {image, row, col}, rows);
    }
  };

  template <class B, class S>
  void forward(const LayerCall<B>& call, Handles, Shape in, const S* x, S* y) const {
    constexpr std::size_t most = sizeof(S) < 4 ? 256 : std::size_t{1} << 24;  // S represents all integers up to this
    require(size * size <= most, "MaxPool: size is ", size, ", but with activations of ", 8 * sizeof(S),
            " bits a window has at most ", most, " pixels");
    const Window w = window(in);
    call.backend.for_each_row(call.batch * w.out_rows, size * size * w.out_cols * w.channels,
                              Forward<S>{w, x, y, call.kept});
  }
  template <class B, class S>
  void backward(const LayerCall<B>& call, Handles, Shape in, const S*, const S*, const S* dy, S* dx) const {
    if (dx == nullptr) return;
    const Window w = window(in);
    const Backward<S> backward{w, call.kept, dy, dx};
    if constexpr (B::on_host)
      call.backend.for_each_row(call.batch * w.rows, w.cols * w.channels, BackwardOfLine<S>{backward});
    else
      call.backend.for_each_row(call.batch * w.rows * w.cols, w.channels, backward);
  }

 private:
  constexpr Window window(Shape in) const { return {in, size, stride, 0}; }
};

}  // namespace algoperf
