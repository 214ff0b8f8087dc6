#pragma once

#include <cstddef>

#include "../ops/learned_positions.hpp"
#include "../ops/look_up.hpp"
#include "../ops/tied_logits.hpp"
#include "transformer_block.hpp"

namespace algoperf {

// A decoder-only Transformer: predicts each token of a sequence from the tokens up to the one before it. A model
// function of the field "input", `context` tokens per example, whose outputs are the logits of the next token at each
// position, on the axis "time". Its labels are the tokens one place later, such as those of TextSequences.
//   TrainingLoop loop(Gpt{.vocabulary = 65}, SoftmaxCrossEntropy{}, adamw(), ...);
// Tensors: embedding.weight {vocabulary, width}, which is also the weight of the logits; positions.weight {context,
//   width}; block.<i> (TransformerBlock); norm.
// Source: Radford et al. 2019 (GPT-2). Weights start with a standard deviation of 0.02, which is divided by
//   sqrt(2 layers) in `out` and `down`.
struct Gpt {
  std::size_t vocabulary = 256;
  std::size_t context = 64;
  std::size_t width = 64;
  std::size_t layers = 2;
  std::size_t heads = 4;
  std::size_t hidden = 0;  // of a block; 0 for 4 width
  double dropout = 0;      // the rate after the embedding and in the blocks
  Init init = Init::small_normal;

  template <class Net>
  constexpr Value operator()(Net& net) const {
    const Value tokens = net.tokens("input", {1}, net.axis("time", context));
    const SharedTensor table =
        net.tensor("embedding.weight", Kind::embedding, {vocabulary, width}, init, width, vocabulary);
    Value x = net("embedding", LookUp{.table = table, .vocabulary = vocabulary, .width = width}, tokens);
    x = net("positions", LearnedPositions{init}, x);
    if (dropout > 0) x = net("drop", Dropout{.rate = dropout}, x);
    const TransformerBlock block{.heads = heads,
                                 .hidden = hidden,
                                 .causal = true,
                                 .dropout = dropout,
                                 .init = init,
                                 .branch_init = init.divide_variance(2 * static_cast<double>(layers))};
    for (std::size_t i = 0; i < layers; ++i) x = net({"block", i}, block, x);
    x = net("norm", LayerNorm{}, x);
    return net("logits", TiedLogits{.table = table, .vocabulary = vocabulary, .width = width}, x);
  }
};

}  // namespace algoperf
