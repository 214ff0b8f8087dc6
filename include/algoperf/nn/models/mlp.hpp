#pragma once

#include <utility>

#include "../layers/dense.hpp"
#include "../layers/relu.hpp"
#include "../model.hpp"

namespace algoperf {
namespace detail {

// Returns layer I of Dense, Activation, Dense, Activation, ..., Dense.
template <class Activation, std::size_t I, std::size_t Hidden>
constexpr auto mlp_layer(const std::size_t (&widths)[Hidden], std::size_t classes) {
  if constexpr (I == 2 * Hidden)
    return Dense{.units = classes, .init = Init::lecun_normal, .output_layer = true};
  else if constexpr (I % 2 == 0)
    return Dense{.units = widths[I / 2]};
  else
    return Activation{};
}

}  // namespace detail

// A multi-layer perceptron: dense layers of `widths` units, each followed by an activation, and a dense layer to
// `classes` logits.
//   constexpr auto model = mlp(Shape{28, 28, 1}, {256, 128}, 10);
//   constexpr auto with_tanh = mlp<Tanh>(Shape{28, 28, 1}, {256, 128}, 10);
// Shapes: in any, read as one row; out {classes}. At least one width; for none, use linear_model().
// Initial values: the model's (He normal) before an activation, normal with variance 1 / fan in before the logits,
//   biases 0.
template <class Activation = Relu, std::size_t Hidden>
constexpr auto mlp(Shape in, const std::size_t (&widths)[Hidden], std::size_t classes) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return Model(in, detail::mlp_layer<Activation, I>(widths, classes)...);
  }
  (std::make_index_sequence<2 * Hidden + 1>{});
}

}  // namespace algoperf
