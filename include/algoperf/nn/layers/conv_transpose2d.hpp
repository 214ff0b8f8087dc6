#pragma once

#include "../../core/map_kernels.hpp"
#include "../concept.hpp"
#include "../init.hpp"
#include "../window.hpp"
#include "conv2d.hpp"

namespace algoperf {

// A transposed convolution, also called up-convolution, of images of rows x columns x channels. It is the gradient of a
// Conv2d with respect to its input: each pixel of x adds a square of pixels to y,
//   y[r, s, f] = b[f] + sum over o, q, c of W[c, r + padding - o stride, s + padding - q stride, f] x[o, q, c]
// The sum covers the o and q for which both kernel indices lie in [0, size).
// Shapes: in {rows, columns, channels}, out {(rows - 1) stride + size - 2 padding, the same for columns, filters};
//   `weight` {channels, size, size, filters}, `bias` {filters}.
// Hyperparameters: filters, size and stride at least 1; padding: the number of pixels cut off on each side. size =
//   stride = 2 without padding doubles rows and columns. bias: whether b is added.
// Initial values: W by `init`, the model's by default (Model::with_init), with fan_in = size^2 channels; b zeros.
// Source: Zeiler et al. 2010, "Deconvolutional networks"; Dumoulin & Visin 2016, arXiv:1603.07285, section 4.
// Departs from torch's ConvTranspose2d: channels come last, in images and in weights; there are no groups, no dilation
//   and no output_padding. torch's fan_in is size^2 filters.
// Cost: 2 size^2 filters FLOPs per element of x forward and 4 size^2 filters backward. Forward takes one more addition
//   per pixel of x and element of y that the pixel adds to. The bias takes one per output each way.
struct ConvTranspose2d {
  std::size_t filters = 1;
  std::size_t size = 2;
  std::size_t stride = 2;
  std::size_t padding = 0;
  Init init = Init::standard;
  bool bias = true;

  using Handles = Conv2d::Handles;

  constexpr Shape output(Shape in) const { return {extent(in[0]), extent(in[1]), filters}; }
  constexpr std::uint64_t parameters(Shape in) const { return in[2] * terms() + (bias ? filters : 0); }
  template <class Tally>
  constexpr void count_forward(Shape in, std::uint64_t batch, Tally& tally) const {
    const std::uint64_t n = batch * in.size(), outputs = batch * output(in).size();
    Operation product = matrix_product("transposed convolution", pixels(in, batch), terms(), in[2]);
    product.read = n + in[2] * terms();
    product.written = outputs;
    tally.operation(product);
    if (!pointwise()) tally.operation({"transposed convolution, sums over windows", batch * overlaps(in)});
    if (bias) tally.operation({"bias", outputs, outputs + filters, outputs});
  }
  template <class Tally>
  constexpr void count_backward(Shape in, std::uint64_t batch, bool input_gradient, Tally& tally) const {
    const std::uint64_t n = batch * in.size(), outputs = batch * output(in).size();
    if (bias) tally.operation({"bias gradient", outputs, outputs, filters});
    Operation product = matrix_product("transposed convolution, weight gradient", in[2], terms(), pixels(in, batch));
    product.read = n + outputs;
    tally.operation(product);
    if (!input_gradient) return;
    product = matrix_product("transposed convolution, input gradient", pixels(in, batch), in[2], terms());
    product.read = outputs + in[2] * terms();
    tally.operation(product);
  }
  constexpr LayerMemory memory(Shape in) const { return adjoint(in).memory(output(in)); }

  Handles declare(Layout& layout, const std::string& name, Shape in) const {
    require(filters > 0, name, ": ConvTranspose2d has filters 0, expected at least 1");
    require(size > 0 && stride > 0, name, ": ConvTranspose2d has size ", size, " and stride ", stride,
            ", expected both at least 1");
    require(in.rank == 3 && in.size() > 0, name, ": ConvTranspose2d got examples of shape ", describe(in),
            ", expected {rows, columns, channels}");
    require(output(in).size() > 0, name, ": ConvTranspose2d has size ", size, ", stride ", stride, " and padding ",
            padding, ", which leave no pixels of examples of shape ", describe(in), ", or too many");
    adjoint(in).check_scratch(name, "ConvTranspose2d", output(in));
    Handles handles{layout.add({name + ".weight", Kind::conv_weight, {in[2], size, size, filters}})};
    if (bias) handles.bias = layout.add({name + ".bias", Kind::bias, {filters}});
    return handles;
  }
  template <class S>
  void initialize(Initializer<S>& set, const Handles& h, Shape in) const {
    set(h.weight, init, size * size * in[2], terms());
    if (bias) set(h.bias, Init::zeros);
  }

  template <class B, class S>
  void forward(const LayerCall<B>& call, const Handles& h, Shape in, const S* x, S* y) const {
    const Shape out = output(in);
    adjoint(in).back_to_input(call, out, x, call.weight(h.weight), y);
    if (bias) call.backend.map_rows(Add{}, call.batch * out[0] * out[1], filters, y, call.value(h.bias));
  }
  template <class B, class S>
  void backward(const LayerCall<B>& call, const Handles& h, Shape in, const S* x, const S*, const S* dy, S* dx) const {
    const Shape out = output(in);
    if (bias) call.backend.column_sums(call.batch * out[0] * out[1], filters, dy, call.gradient(h.bias));
    adjoint(in).back_to_weight(call, out, dy, x, call.gradient(h.weight));
    if (dx != nullptr) adjoint(in).convolve(call, out, dy, call.weight(h.weight), nullptr, dx);
  }

 private:
  // The convolution of images of the output's shape whose outputs have the input's shape.
  constexpr Conv2d adjoint(Shape in) const {
    return {.filters = in[2], .size = size, .stride = stride, .padding = padding, .bias = false};
  }
  // Returns the rows or columns of the output, 0 if the padding leaves none or they are too many.
  constexpr std::size_t extent(std::size_t of_input) const {
    if (of_input == 0 || size > max_elements || padding > Window::max_padding) return 0;
    const std::size_t padded = element_count(of_input - 1, stride) + size;
    return padded > max_elements || padded <= 2 * padding ? 0 : padded - 2 * padding;
  }
  constexpr bool pointwise() const { return size == 1 && stride == 1 && padding == 0; }
  constexpr std::size_t terms() const { return size * size * filters; }
  constexpr std::uint64_t pixels(Shape in, std::uint64_t batch) const { return batch * in[0] * in[1]; }
  // Returns the sum over the pixels of an image of the output elements that each adds to.
  constexpr std::uint64_t overlaps(Shape in) const {
    const Window w(output(in), size, stride, padding);
    return w.covered(w.rows, w.out_rows) * w.covered(w.cols, w.out_cols) * filters;
  }
};

}  // namespace algoperf
