#pragma once

#include <cstddef>

#include "../graph/recorder.hpp"
#include "../layers/dense.hpp"
#include "../layers/layer_norm.hpp"
#include "../layers/relu.hpp"
#include "../ops/attention.hpp"
#include "../ops/gather_rows.hpp"
#include "../ops/learned_positions.hpp"
#include "../ops/look_up.hpp"
#include "../ops/scale_rows.hpp"
#include "../ops/sum.hpp"
#include "../ops/tied_logits.hpp"

namespace algoperf {

// A masked language model whose outputs do not change if all its parameters are multiplied by one positive number. SGD
// with weight decay and relative clipping trains it (relative_clipped_sgd()). It has the inputs of Bert, and logits of
// the same shape.
//   TrainingLoop loop(ScaleInvariantTransformer{.vocabulary = 66}, SoftmaxCrossEntropy{}, relative_clipped_sgd(), ...);
// No layer has a bias, and no norm has a scale. x is homogeneous of degree 2 in the parameters:
//   x = in(embedding + positions);
//   blocks: x = x + out(attention(qkv(norm(x)))),   x = x + down(relu(up(norm(x))));
//   for the chosen rows only: z = logit_scale norm(tied(norm(relu(transform(norm(x))))))
// Attention weights are proportional to the positive scores (AttentionWeights::relu). The outermost norm of z
// normalises each row of logits.
// Tensors: embedding.weight {vocabulary, width}; positions.weight {context, width}; in; block.<i>.{qkv, out, up, down};
//   transform.
// Hyperparameters: hidden, the hidden units of a block (0: 4 width); logit_scale, the standard deviation of a row's
//   logits.
// Source: SIBERT (Li et al. 2022, arXiv:2202.00980, section 5): the attention, and residual branches of degree 2 after
//   norms. The parts that we could read do not say how the embedding reaches degree 2, how the logits become
//   scale-invariant, or how weights are initialised. Ours are the dense layer `in`, the norm of the logits, and normal
//   weights with variance 1 / fan in (positions: 1).
struct ScaleInvariantTransformer {
  std::size_t vocabulary = 256, context = 64, chosen = 10, width = 64, layers = 2, heads = 4, hidden = 0;
  double logit_scale = 2;

  template <class Net>
  constexpr Value operator()(Net& net) const {
    net.check(chosen > 0 && chosen <= context, {}, "ScaleInvariantTransformer: chosen is ", chosen,
              ", expected 1 to the context, ", context);
    const GraphIndex time = net.axis("time", context);
    const Value tokens = net.tokens("input", {1}, time),
                positions = net.row_indices("position", net.axis("chosen", chosen), time);
    const SharedTensor table =
        net.tensor("embedding.weight", Kind::embedding, {vocabulary, width}, Init::lecun_normal, width, vocabulary);
    Value x = net("embedding", LookUp{.table = table, .vocabulary = vocabulary, .width = width}, tokens);
    x = net("in", dense(width), net("positions", LearnedPositions{Init::lecun_normal}, x));
    for (std::size_t i = 0; i < layers; ++i) x = block(net, i, x);
    x = net("transform", dense(width), net("norm", norm, net(GatherRows{}, x, positions)));
    x = net("transform_norm", norm, net("relu", Relu{}, x));
    x = net("tied", TiedLogits{.table = table, .vocabulary = vocabulary, .width = width}, x);
    return net("logits", ScaleRows{logit_scale}, net("logits_norm", norm, x));
  }

 private:
  static constexpr LayerNorm norm{.eps = 1e-30, .affine = false};  // eps only avoids a division by 0

  static constexpr Dense dense(std::size_t units) {
    return {.units = units, .init = Init::lecun_normal, .bias = false};
  }
  template <class Net>
  constexpr Value block(Net& net, std::size_t i, Value x) const {
    const typename Net::Scope scope(net, {"block", i});
    Value y = net("qkv", dense(3 * width), net("norm_1", norm, x));
    y = net("attention", Attention{.heads = heads, .weights = AttentionWeights::relu}, y);
    x = net("sum_1", Sum{}, x, net("out", dense(width), y));
    y = net("relu", Relu{}, net("up", dense(hidden == 0 ? 4 * width : hidden), net("norm_2", norm, x)));
    return net("sum_2", Sum{}, x, net("down", dense(width), y));
  }
};

}  // namespace algoperf
