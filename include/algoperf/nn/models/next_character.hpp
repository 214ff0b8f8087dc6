#pragma once

#include "../layers/dense.hpp"
#include "../layers/embedding.hpp"
#include "../layers/flatten.hpp"
#include "../layers/layer_norm.hpp"
#include "../layers/relu.hpp"
#include "../model.hpp"
#include "../residual.hpp"

namespace algoperf {

// The sizes of a next-character model.
struct NextCharacter {
  std::size_t width = 16;   // of a character's embedding
  std::size_t units = 128;  // of the hidden layers
};

// A model that predicts a character from the `context` characters before it: their concatenated embeddings, a dense
// layer with an activation, a residual block (layer norm, dense, activation), and a dense layer to the logits of the
// vocabulary.
// Shapes: in {context} of std::int32_t, out {vocabulary}.
// Source: after Bengio et al. 2003, "A neural probabilistic language model", section 2, with a ReLU instead of the tanh
//   and a residual block instead of the direct connections.
// Initial values: unit normal embeddings, the model's (He normal) before an activation, normal with variance 1 / fan in
//   before the logits.
template <class Activation = Relu>
constexpr auto next_character(std::size_t context, std::size_t vocabulary, const NextCharacter& sizes = {}) {
  const Dense hidden{.units = sizes.units};
  return Model(Shape{context}, Embedding{.vocabulary = vocabulary, .width = sizes.width}, Flatten{}, hidden,
               Activation{}, Residual(LayerNorm{}, hidden, Activation{}),
               Dense{.units = vocabulary, .init = Init::lecun_normal, .output_layer = true});
}

}  // namespace algoperf
