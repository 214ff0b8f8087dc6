#pragma once

#include "../../core/map_kernels.hpp"
#include "../concept.hpp"
#include "../init.hpp"
#include "../window.hpp"

namespace algoperf {

// A two-dimensional convolution (cross-correlation, as in torch) with square kernels, over images of rows x columns x
// channels:
//   y[o, q, f] = b[f] + sum over i, j, c of W[f, i, j, c] x[o stride + i - padding, q stride + j - padding, c]
// Shapes: in {rows, columns, channels}, out {(rows + 2 padding - size) / stride + 1, the same of columns, filters},
//   both divisions rounded down; `weight` {filters, size, size, channels}, `bias` {filters}.
// Hyperparameters: filters, size and stride at least 1; padding: zeros on each side, size / 2 keeps the image's size
//   at stride 1; columns: the scalars of scratch for unrolled windows (at least one row of windows is taken).
// Source: Chellapilla et al. 2006, "High performance convolutional neural networks for document processing": unrolled
//   windows times the weights, here in blocks of rows of windows, so that scratch depends neither on the batch nor,
//   past one row, on the image.
// Departs from torch: channels come last, in images and weights alike; neither groups nor dilation.
// Cost: 2 size^2 channels + 1 FLOPs an output forward, twice the product and 1 backward. A kernel of size 1 at stride 1
//   without padding is one matrix product and needs no scratch.
struct Conv2d {
  std::size_t filters = 1;
  std::size_t size = 3;
  std::size_t stride = 1;
  std::size_t padding = 0;
  Init init = Init::he_normal;
  std::size_t columns = std::size_t{1} << 18;

  struct Handles {
    TensorHandle weight, bias;
  };

  constexpr Shape output(Shape in) const { return window(in).output(filters); }
  constexpr Cost cost(Shape in) const {
    const std::uint64_t outputs = output(in).size(), product = 2 * outputs * terms(in);
    return {filters * terms(in) + filters, product + outputs, 2 * product + outputs, outputs};
  }
  constexpr std::uint64_t input_gradient_flops(Shape in) const { return 2 * output(in).size() * terms(in); }
  constexpr LayerMemory memory(Shape in) const {
    const Window w = window(in);
    return {0, pointwise() ? 0 : block_rows(in, w) * w.out_cols * terms(in)};
  }

  Handles declare(Layout& layout, const std::string& name, Shape in) const {
    require(filters > 0, name, ": Conv2d has filters 0, expected at least 1");
    window(in).check(name, "Conv2d", in);
    return {layout.add({name + ".weight", Kind::conv_weight, {filters, size, size, in[2]}}),
            layout.add({name + ".bias", Kind::bias, {filters}})};
  }
  template <class S>
  void initialize(Initializer<S>& set, const Handles& h, Shape in) const {
    set(h.weight, init, terms(in), size * size * filters);
    set(h.bias, Init::zeros);
  }

  // Unrolls windows: row r of columns is the window at position first + r, zeros where it hangs over the edge.
  template <class S>
  struct Unroll {
    Window w;
    std::size_t first;
    const S* x;
    S* columns;

    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
      const auto at = Window::place(first + r, w.out_rows, w.out_cols);
      const std::size_t top = at.row * w.stride, left = at.col * w.stride;  // in the padded image
      const std::size_t line = w.size * w.channels;
      const std::size_t begin = cut(w.padding, left) * w.channels;
      const std::size_t stop = cut(w.cols + w.padding, left) * w.channels;
      S* to = columns + r * w.size * line;
      for (std::size_t i = 0; i < w.size; ++i, to += line) {
        const std::size_t row = top + i - w.padding;
        const bool inside = top + i >= w.padding && row < w.rows && begin < stop;
        const std::size_t from = inside ? begin : line, end = inside ? stop : line;
        if (from > 0) zero(team, from, to);
        if (from < end) {
          const std::size_t col = left > w.padding ? left - w.padding : 0;
          team.copy(end - from, x + ((at.image * w.rows + row) * w.cols + col) * w.channels, to + from);
        }
        if (end < line) zero(team, line - end, to + end);
      }
    }
    // How much of a window that starts at `left` lies before `edge`.
    ALGOPERF_HD std::size_t cut(std::size_t edge, std::size_t left) const {
      const std::size_t before = edge > left ? edge - left : 0;
      return before < w.size ? before : w.size;
    }
    template <class Team>
    static ALGOPERF_HD void zero(const Team& team, std::size_t n, S* to) {
      team.each(n, [to](std::size_t i) { to[i] = S(0); });
    }
  };

  // The transpose of Unroll: pixel `first_pixel` + r of dx gains its share of every window in the block, rows [first,
  // last) of windows, that holds it.
  template <class S>
  struct Gather {
    Window w;
    std::size_t first, last, first_pixel;
    const S* columns;
    S* dx;

    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
      const auto at = Window::place(first_pixel + r, w.rows, w.cols);
      const auto rows = w.covering(at.row, w.out_rows), cols = w.covering(at.col, w.out_cols);
      S* const to = dx + (first_pixel + r) * w.channels;
      for (std::size_t o = rows.begin; o < rows.end; ++o) {
        const std::size_t line = at.image * w.out_rows + o;
        if (line < first || line >= last) continue;
        for (std::size_t q = cols.begin; q < cols.end; ++q) {
          const std::size_t window = (line - first) * w.out_cols + q;
          const std::size_t offset = w.within(at.row, o) * w.size + w.within(at.col, q);
          team.map(Add{}, w.channels, to, columns + (window * w.size * w.size + offset) * w.channels);
        }
      }
    }
  };

  template <class B, class S>
  void forward(const LayerPass<B>& pass, const Handles& h, Shape in, const S* x, S* y) const {
    const Window w = window(in);
    for_each_block(pass, in, w, [&](std::size_t first, std::size_t last) {
      const std::size_t windows = (last - first) * w.out_cols;
      S* const out = y + first * w.out_cols * filters;
      pass.backend.gemm_nt(windows, filters, terms(in), unrolled(pass, in, w, x, first, windows), pass.value(h.weight),
                           out);
      pass.backend.map_rows(Add{}, windows, filters, out, pass.value(h.bias));
    });
  }
  template <class B, class S>
  void backward(const LayerPass<B>& pass, const Handles& h, Shape in, const S* x, const S*, const S* dy, S* dx) const {
    const Window w = window(in);
    pass.backend.column_sums(pass.batch * w.out_rows * w.out_cols, filters, dy, pass.gradient(h.bias));
    if (dx != nullptr && !pointwise()) pass.backend.fill(pass.batch * in.size(), dx, S(0));
    for_each_block(pass, in, w, [&](std::size_t first, std::size_t last) {
      const std::size_t windows = (last - first) * w.out_cols;
      const S* const d_out = dy + first * w.out_cols * filters;
      pass.backend.gemm_tn(filters, terms(in), windows, d_out, unrolled(pass, in, w, x, first, windows),
                           pass.gradient(h.weight), first > 0);
      if (dx == nullptr) return;
      S* const d_columns = pointwise() ? dx : pass.scratch;
      pass.backend.gemm_nn(windows, terms(in), filters, d_out, pass.value(h.weight), d_columns);
      if (!pointwise()) gather(pass, w, first, last, dx);
    });
  }

 private:
  constexpr Window window(Shape in) const { return {in, size, stride, padding}; }
  // Terms of the sum behind one output.
  constexpr std::size_t terms(Shape in) const { return size * size * in[2]; }
  constexpr bool pointwise() const { return size == 1 && stride == 1 && padding == 0; }
  constexpr std::size_t block_rows(Shape in, const Window& w) const {
    const std::size_t rows = columns / (w.out_cols * terms(in) + 1);
    return rows > 0 ? rows : 1;
  }

  // f(first, last) over blocks of rows of windows, all examples' rows counted through; one block if pointwise.
  template <class B, class F>
  void for_each_block(const LayerPass<B>& pass, Shape in, const Window& w, const F& f) const {
    const std::size_t total = pass.batch * w.out_rows, step = pointwise() ? total : block_rows(in, w);
    for (std::size_t first = 0; first < total; first += step) f(first, first + step < total ? first + step : total);
  }
  template <class B, class S>
  const S* unrolled(const LayerPass<B>& pass, Shape in, const Window& w, const S* x, std::size_t first,
                    std::size_t windows) const {
    if (pointwise()) return x;
    pass.backend.for_each_row(windows, terms(in), Unroll<S>{w, first * w.out_cols, x, pass.scratch});
    return pass.scratch;
  }
  // Visits the image rows that the block's windows touch.
  template <class B, class S>
  void gather(const LayerPass<B>& pass, const Window& w, std::size_t first, std::size_t last, S* dx) const {
    const std::size_t top = first % w.out_rows * stride, bottom = (last - 1) % w.out_rows * stride + size;
    const std::size_t above = top > padding ? top - padding : 0, below = bottom > padding ? bottom - padding : 0;
    const std::size_t begin = first / w.out_rows * w.rows + (above < w.rows ? above : w.rows);
    const std::size_t end = (last - 1) / w.out_rows * w.rows + (below < w.rows ? below : w.rows);
    if (begin >= end) return;
    pass.backend.for_each_row((end - begin) * w.cols, size * size * w.channels,
                              Gather<S>{w, first, last, begin * w.cols, pass.scratch, dx});
  }
};

}  // namespace algoperf
