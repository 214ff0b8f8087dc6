// The gradients of single examples of a Dense layer, by products instead of a backward pass per example.
#pragma once

#include <cstddef>

#include "../layers/dense.hpp"

namespace algoperf::detail {

// With the given gradients G of the weights and g of the bias, for example e:
//   squares[e] += |dy|^2 (|x|^2 + 1),  inner[e] += dy . (G x + g);  without a bias, the 1 and g are absent.
template <class S>
struct AddDenseProducts {
  std::size_t width, units;
  const S *x, *dy;
  const S* products;       // G x
  const S* bias_gradient;  // g; null without a bias
  S *squares, *inner;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t e) const {
    const S *const xe = x + e * width, *const de = dy + e * units, *const pe = products + e * units,
                   *const g = bias_gradient;
    const S of_x = team.template sum<S>(width, [=](std::size_t i) { return xe[i] * xe[i]; });
    const S of_dy = team.template sum<S>(units, [=](std::size_t i) { return de[i] * de[i]; });
    const S product =
        team.template sum<S>(units, [=](std::size_t i) { return de[i] * (g == nullptr ? pe[i] : pe[i] + g[i]); });
    S *const square = squares + e, *const to = inner + e;
    const S ones = g == nullptr ? S(0) : S(1);
    team.each(1, [=](std::size_t) {
      *square += of_dy * (of_x + ones);
      *to += product;
    });
  }
};

// Adds the squared norm of each example's gradient of the layer's tensors to `squares`, and its inner product with
// `gradient`, an arena, to `inner`. The gradient of the weights is dy x^T, and that of the bias is dy. `scratch` has
// `units` elements per example.
template <class B, class S>
void add_dense_products(const LayerCall<B>& call, const Dense& layer, const Dense::Handles& h, Shape in, const S* x,
                        const S* dy, const S* gradient, S* scratch, S* squares, S* inner) {
  const auto of = [&](TensorHandle handle) { return gradient + call.layout.place_of(handle).offset; };
  const std::size_t width = in.size(), units = layer.units;
  call.backend.gemm_nt(call.batch, units, width, x, of(h.weight), scratch);
  call.backend.for_each_row(
      call.batch, width + 2 * units,
      AddDenseProducts<S>{width, units, x, dy, scratch, layer.bias ? of(h.bias) : nullptr, squares, inner});
}

}  // namespace algoperf::detail
