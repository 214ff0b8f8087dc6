#pragma once

#include <cstddef>

#include "../../core/binary_logarithm.hpp"
#include "../ops/look_up.hpp"
#include "../ops/tied_logits.hpp"
#include "rotary_block.hpp"

namespace algoperf {

// A decoder-only Transformer with rotary positions, normalised queries and keys, and gated MLPs: AlgoPerf's language
// model. Predicts each token of a sequence from the tokens up to the one before it. A model function of the field
// "input", `context` tokens per example, whose outputs are the logits of the next token at each position, on the axis
// "time". Its labels are the tokens one place later, such as those of TextSequences.
//   TrainingLoop loop(RotaryTransformer{.vocabulary = 65}, SoftmaxCrossEntropy{}, adamw(), ...);
// Tensors: embedding.weight {vocabulary, width}, which is also the weight of the logits; block.<i> (RotaryBlock);
//   norm.scale. There are no biases.
// Source: AlgoPerf's finewebedu_lm. Weights start normal with a standard deviation of 0.02, divided by sqrt(2 layers)
//   in `out` and `down`; the scale of queries starts as log2(context^2 - context), which needs context >= 2.
// Departs from AlgoPerf, which computes in bfloat16.
struct RotaryTransformer {
  std::size_t vocabulary = 256;
  std::size_t context = 64;
  std::size_t width = 64;
  std::size_t layers = 2;
  std::size_t heads = 4;
  std::size_t hidden = 0;  // of a block; 0 for 4 width

  template <class Net>
  constexpr Value operator()(Net& net) const {
    net.check(context >= 2, {}, "context is ", context, ", expected at least 2");
    const Init init = Init::small_normal;
    const Value tokens = net.tokens("input", {1}, net.axis("time", context));
    const SharedTensor table =
        net.tensor("embedding.weight", Kind::embedding, {vocabulary, width}, init, width, vocabulary);
    Value x = net("embedding", LookUp{.table = table, .vocabulary = vocabulary, .width = width}, tokens);
    const double n = static_cast<double>(context);
    const RotaryBlock block{.heads = heads,
                            .hidden = hidden,
                            .attention_scale = detail::binary_logarithm(n * n - n),
                            .init = init,
                            .branch_init = init.divide_variance(2 * static_cast<double>(layers))};
    for (std::size_t i = 0; i < layers; ++i) x = net({"block", i}, block, x);
    x = net("norm", RmsNorm{}, x);
    return net("logits", TiedLogits{.table = table, .vocabulary = vocabulary, .width = width}, x);
  }
};

}  // namespace algoperf
