#pragma once

#include <type_traits>

#include "../../backend/convolution.hpp"
#include "../../core/map_kernels.hpp"
#include "../../core/math.hpp"
#include "../concept.hpp"
#include "../init.hpp"
#include "../window.hpp"

namespace algoperf {

// A two-dimensional convolution (cross-correlation, as in torch) with square kernels, over images of rows x columns x
// channels:
//   y[o, q, f] = b[f] + sum over i, j, c of W[f, i, j, c] x[o stride + i - padding, q stride + j - padding, c]
// Shapes: in {rows, columns, channels}, out {(rows + 2 padding - size) / stride + 1, the same for columns, filters},
//   both divisions rounded down; `weight` {filters, size, size, channels}, `bias` {filters}.
// Hyperparameters: filters, size and stride at least 1; padding: the number of zeros added on each side. For odd size
//   and stride 1, padding = size / 2 keeps the image's size. bias: whether b is added.
// Initial values: W by `init`, the model's by default (Model::with_init); b zeros.
// Source: Chellapilla et al. 2006, "High performance convolutional neural networks for document processing": unrolled
//   windows times the weights. Here the windows are processed in blocks of rows of windows: as many rows as fit the
//   backend's `scratch`, and at least one. On a backend with its own convolutions (backend/convolution.hpp), those are
//   used instead.
// Departs from torch: channels come last, in images and in weights; there are no groups and no dilation.
// Cost: 2 size^2 channels + 1 FLOPs per output forward and 4 size^2 channels + 1 backward. The input's gradient takes
//   one more addition per window and input element that the window covers. A kernel of size 1 at stride 1 without
//   padding is one matrix product; it needs neither these additions nor scratch.
struct Conv2d {
  std::size_t filters = 1;
  std::size_t size = 3;
  std::size_t stride = 1;
  std::size_t padding = 0;
  Init init = Init::standard;
  bool bias = true;
  bool output_layer = false;  // as in Dense

  struct Handles {
    TensorHandle weight, bias = {};
  };

  constexpr Shape output(Shape in) const { return window(in).output(filters); }
  constexpr std::uint64_t parameters(Shape in) const { return filters * terms(in) + (bias ? filters : 0); }
  constexpr ModelPart part() const { return output_layer ? ModelPart::output : ModelPart::body; }
  template <class Tally>
  constexpr void count_forward(Shape in, std::uint64_t batch, Tally& tally) const {
    const std::uint64_t windows = batch * places(in), outputs = windows * filters;
    Operation product = matrix_product("convolution", windows, filters, terms(in), part());
    product.read = batch * in.size() + filters * terms(in);
    tally.operation(product);
    if (bias) tally.operation(operation_of(part(), "bias", outputs, outputs + filters, outputs));
  }
  template <class Tally>
  constexpr void count_backward(Shape in, std::uint64_t batch, bool input_gradient, Tally& tally) const {
    const std::uint64_t windows = batch * places(in), outputs = windows * filters, weights = filters * terms(in);
    if (bias) tally.operation(operation_of(part(), "bias gradient", outputs, outputs, filters));
    Operation product = matrix_product("convolution, weight gradient", filters, terms(in), windows, part());
    product.read = batch * in.size() + outputs;
    tally.operation(product);
    if (!input_gradient) return;
    product = matrix_product("convolution, input gradient", windows, terms(in), filters, part());
    product.read = outputs + weights;
    product.written = batch * in.size();
    tally.operation(product);
    if (!pointwise())
      tally.operation(operation_of(part(), "convolution, sums over windows", batch * overlaps(in), 0, 0));
  }
  constexpr LayerMemory memory(Shape in) const {
    const Window w = window(in);
    const std::size_t row = pointwise() ? 0 : element_count(w.out_cols, size, size, in[2]);
    return {0, row, element_count(w.out_rows, row)};
  }

  Handles declare(Layout& layout, const std::string& name, Shape in) const {
    require(filters > 0, name, ": Conv2d has filters 0, expected at least 1");
    window(in).check(name, "Conv2d", in);
    check_scratch(name, "Conv2d", in);
    Handles handles{layout.add({name + ".weight", Kind::conv_weight, {filters, size, size, in[2]}, output_layer})};
    if (bias) handles.bias = layout.add({name + ".bias", Kind::bias, {filters}, output_layer});
    return handles;
  }
  template <class S>
  void initialize(Initializer<S>& set, const Handles& h, Shape in) const {
    set(h.weight, init, terms(in), size * size * filters);
    if (bias) set(h.bias, Init::zeros);
  }

  // Unrolls row `first` + r of windows into `columns`, one window after another. Pixels outside the image are zeros.
  // Rows of windows are numbered through all examples.
  template <class S>
  struct Unroll {
    Window w;
    std::size_t first;
    const S* x;
    S* columns;

    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
      const auto lines = static_cast<unsigned>(w.size), length = static_cast<unsigned>(w.size * w.channels);
      const auto count = static_cast<unsigned>(w.out_cols) * lines;
      const std::size_t image = (first + r) / w.out_rows, top = (first + r) % w.out_rows * w.stride;
      const S* const pixels = x + image * w.rows * w.cols * w.channels;
      team.copy_rows(count, length, columns + r * count * length,
                     [=, *this](unsigned k) { return line(pixels, top, k / lines, k % lines, length); });
    }

   private:
    // Returns line i of window q in a row of windows whose first line is row `top` of the padded image.
    ALGOPERF_HD Stretch<S> line(const S* pixels, std::size_t top, unsigned q, unsigned i, unsigned length) const {
      const std::size_t left = q * w.stride;
      const std::size_t begin = cut(w.padding, left), end = cut(w.cols + w.padding, left);
      if (top + i < w.padding || top + i >= w.rows + w.padding || begin >= end) return {pixels, length, length};
      const std::size_t row = top + i - w.padding, col = left + begin - w.padding;
      return {pixels + (row * w.cols + col) * w.channels, static_cast<unsigned>(begin * w.channels),
              static_cast<unsigned>(end * w.channels)};
    }
    // Returns how many columns of a window that starts at `left` lie before `edge`.
    ALGOPERF_HD std::size_t cut(std::size_t edge, std::size_t left) const {
      const std::size_t before = edge > left ? edge - left : 0;
      return before < w.size ? before : w.size;
    }
  };

  // The transpose of Unroll: adds to pixel `first_pixel` + r of dx its gradient from every window of the block that
  // contains it. The block is rows [first, last) of windows.
  template <class S>
  struct Gather {
    static constexpr bool elementwise = true;
    Window w;
    std::size_t first, last, first_pixel;
    const S* columns;
    S* dx;

    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
      const auto at = Window::place(first_pixel + r, w.rows, w.cols);
      const auto in_image = w.covering(at.row, w.out_rows), cols = w.covering(at.col, w.out_cols);
      const std::size_t line = at.image * w.out_rows;
      const std::size_t begin = math::max(first, line + in_image.begin), end = math::min(last, line + in_image.end);
      if (begin >= end || cols.begin >= cols.end) return;
      // The gradient from the first window. From one window to the next, the pixel's place in the window changes too.
      const std::size_t offset = w.within(at.row, begin - line) * w.size + w.within(at.col, cols.begin);
      const S* const share =
          columns + (((begin - first) * w.out_cols + cols.begin) * w.size * w.size + offset) * w.channels;
      const std::size_t per_row = (w.out_cols * w.size - w.stride) * w.size * w.channels;
      const std::size_t per_col = (w.size * w.size - w.stride) * w.channels;
      const std::size_t high = end - begin, wide = cols.end - cols.begin;
      S* const to = dx + (first_pixel + r) * w.channels;
      if constexpr (Team::size > 1 || !std::is_same_v<S, Arithmetic<S>>) {  // rounds once per block of windows
        team.each(w.channels, [=](std::size_t c) {
          Arithmetic<S> total = to[c];
          for (std::size_t o = 0; o < high; ++o)
            for (std::size_t q = 0; q < wide; ++q) total += share[o * per_row + q * per_col + c];
          to[c] = S(total);
        });
      } else {
        for (std::size_t o = 0; o < high; ++o)
          for (std::size_t q = 0; q < wide; ++q) team.map(Add{}, w.channels, to, share + o * per_row + q * per_col);
      }
    }
  };

  template <class B, class S>
  void forward(const LayerCall<B>& call, const Handles& h, Shape in, const S* x, S* y) const {
    convolve(call, in, x, call.weight(h.weight), bias ? call.value(h.bias) : nullptr, y);
  }
  template <class B, class S>
  void backward(const LayerCall<B>& call, const Handles& h, Shape in, const S* x, const S*, const S* dy, S* dx) const {
    const Window w = window(in);
    if (bias) call.backend.column_sums(call.batch * w.out_rows * w.out_cols, filters, dy, call.gradient(h.bias));
    back_to_weight(call, in, x, dy, call.gradient(h.weight));
    if (dx != nullptr) back_to_input(call, in, dy, call.weight(h.weight), dx);
  }

  // Throws Error if a row of windows has too many elements. `layer` is the type in the message.
  void check_scratch(const std::string& name, const char* layer, Shape in) const {
    require(memory(in).scratch <= UINT32_MAX, name, ": ", layer, " has size ", size, " and padding ", padding,
            ", for which a row of windows has ", memory(in).scratch, " elements or more, expected at most ",
            UINT32_MAX);
  }

  // The parts of forward and backward, of which ConvTranspose2d consists, too. They use the call's batch and scratch,
  // but none of its tensors. `added`, the bias, may be null. The gradients are overwritten.
  template <class B, class S>
  void convolve(const LayerCall<B>& call, Shape in, const S* x, const S* weight, const Arithmetic<S>* added,
                S* y) const {
    const Window w = window(in);
    if constexpr (ConvolvingBackend<B>)
      if (!pointwise()) return call.backend.convolution(shape(in, call.batch)).forward(x, weight, added, y);
    for_each_block(call, in, w, [&](std::size_t first, std::size_t last) {
      const std::size_t windows = (last - first) * w.out_cols;
      S* const out = y + first * w.out_cols * filters;
      call.backend.gemm_nt_bias(windows, filters, terms(in), unrolled(call, in, w, x, first, last), weight, added, out);
    });
  }
  template <class B, class S>
  void back_to_weight(const LayerCall<B>& call, Shape in, const S* x, const S* dy, Arithmetic<S>* d_weight) const {
    const Window w = window(in);
    if constexpr (ConvolvingBackend<B>)
      if (!pointwise()) return call.backend.convolution(shape(in, call.batch)).back_to_weight(x, dy, d_weight);
    for_each_block(call, in, w, [&](std::size_t first, std::size_t last) {
      call.backend.gemm_tn(filters, terms(in), (last - first) * w.out_cols, dy + first * w.out_cols * filters,
                           unrolled(call, in, w, x, first, last), d_weight, first > 0);
    });
  }
  template <class B, class S>
  void back_to_input(const LayerCall<B>& call, Shape in, const S* dy, const S* weight, S* dx) const {
    const Window w = window(in);
    if constexpr (ConvolvingBackend<B>)
      if (!pointwise()) return call.backend.convolution(shape(in, call.batch)).back_to_input(dy, weight, dx);
    if (!pointwise()) call.backend.fill(call.batch * in.size(), dx, S(0));
    for_each_block(call, in, w, [&](std::size_t first, std::size_t last) {
      S* const d_columns = pointwise() ? dx : call.scratch;
      call.backend.gemm_nn((last - first) * w.out_cols, terms(in), filters, dy + first * w.out_cols * filters, weight,
                           d_columns);
      if (!pointwise()) gather(call, w, first, last, dx);
    });
  }

 private:
  constexpr Window window(Shape in) const { return {in, size, stride, padding}; }
  // Returns the number of terms in the sum of one output.
  constexpr std::size_t terms(Shape in) const { return size * size * in[2]; }
  // Return the number of windows of an image, and the sum over these windows of the input elements that each covers.
  constexpr std::uint64_t places(Shape in) const { return window(in).out_rows * window(in).out_cols; }
  constexpr std::uint64_t overlaps(Shape in) const {
    const Window w = window(in);
    return w.covered(w.rows, w.out_rows) * w.covered(w.cols, w.out_cols) * w.channels;
  }
  constexpr Convolution shape(Shape in, std::size_t images) const {
    return {images, in[0], in[1], in[2], filters, size, stride, padding};
  }
  constexpr bool pointwise() const { return size == 1 && stride == 1 && padding == 0; }
  // Returns the number of rows of windows that fit `scratch`, at least 1.
  constexpr std::size_t block_rows(Shape in, const Window& w, std::size_t scratch) const {
    const std::size_t rows = scratch / (w.out_cols * terms(in));
    return rows > 0 ? rows : 1;
  }

  // Calls f(first, last) for each block of rows of windows, numbered through all examples. If pointwise, there is one
  // block.
  template <class B, class F>
  void for_each_block(const LayerCall<B>& call, Shape in, const Window& w, const F& f) const {
    const std::size_t total = call.batch * w.out_rows;
    const std::size_t step = pointwise() ? total : block_rows(in, w, call.backend.scratch);
    for (std::size_t first = 0; first < total; first += step) f(first, first + step < total ? first + step : total);
  }
  template <class B, class S>
  const S* unrolled(const LayerCall<B>& call, Shape in, const Window& w, const S* x, std::size_t first,
                    std::size_t last) const {
    if (pointwise()) return x;
    call.backend.for_each_row(last - first, w.out_cols * terms(in), Unroll<S>{w, first, x, call.scratch});
    return call.scratch;
  }
  // Adds the block's gradients to the image rows that its windows cover.
  template <class B, class S>
  void gather(const LayerCall<B>& call, const Window& w, std::size_t first, std::size_t last, S* dx) const {
    const std::size_t top = first % w.out_rows * stride, bottom = (last - 1) % w.out_rows * stride + size;
    const std::size_t above = top > padding ? top - padding : 0, below = bottom > padding ? bottom - padding : 0;
    const std::size_t begin = first / w.out_rows * w.rows + (above < w.rows ? above : w.rows);
    const std::size_t end = (last - 1) / w.out_rows * w.rows + (below < w.rows ? below : w.rows);
    if (begin >= end) return;
    call.backend.for_each_row((end - begin) * w.cols, size * size * w.channels,
                              Gather<S>{w, first, last, begin * w.cols, call.scratch, dx});
  }
};

}  // namespace algoperf
