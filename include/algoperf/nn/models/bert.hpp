#pragma once

#include <cstddef>

#include "../graph/recorder.hpp"
#include "../layers/dense.hpp"
#include "../layers/dropout.hpp"
#include "../layers/gelu.hpp"
#include "../layers/layer_norm.hpp"
#include "../ops/attention.hpp"
#include "../ops/gather_rows.hpp"
#include "../ops/learned_positions.hpp"
#include "../ops/look_up.hpp"
#include "../ops/sum.hpp"
#include "../ops/tied_logits.hpp"

namespace algoperf {

// A masked language model: predicts masked tokens of a sequence from the context on both sides. A model function of two
// fields: "input", `context` tokens below `vocabulary`, and "position", the `chosen` rows of "input" to predict
// (data/masked_tokens.hpp). Its outputs are the logits of the original tokens, on the axis "chosen".
//   TrainingLoop loop(Bert{.vocabulary = 66}, SoftmaxCrossEntropy{}, lamb(), ...);
// It consists of embeddings of tokens and of positions, whose sum is normalised; blocks
//   x = norm_1(x + out(attention(qkv(x)))),   x = norm_2(x + down(gelu(up(x))));
// and, for the chosen rows only, norm(gelu(transform(x))), then logits whose weights are tied to the token embedding.
// Tensors: embedding.weight {vocabulary, width}; positions.weight {context, width}; norm; block.<i>.{qkv, out, norm_1,
//   up, down, norm_2}; transform; transform_norm; logits.bias {vocabulary}.
// Hyperparameters: hidden, the hidden units of a block (0: 4 width); dropout, after the embeddings, `out` and `down`;
//   init, of weights.
// Source: Devlin et al. 2018, arXiv:1810.04805. Departures: no segment embeddings, no next-sentence prediction, no
//   attention dropout, and normal initial values that are not truncated. The mask is one of `vocabulary` tokens.
struct Bert {
  std::size_t vocabulary = 256, context = 64, chosen = 10, width = 64, layers = 2, heads = 4, hidden = 0;
  double dropout = 0;
  Init init = Init::small_normal;

  template <class Net>
  constexpr Value operator()(Net& net) const {
    net.check(chosen > 0 && chosen <= context, {}, "Bert: chosen is ", chosen, ", expected 1 to the context, ",
              context);
    const GraphIndex time = net.axis("time", context);
    const Value tokens = net.tokens("input", {1}, time),
                positions = net.row_indices("position", net.axis("chosen", chosen), time);
    const SharedTensor table =
        net.tensor("embedding.weight", Kind::embedding, {vocabulary, width}, init, width, vocabulary);
    Value x = net("embedding", LookUp{.table = table, .vocabulary = vocabulary, .width = width}, tokens);
    x = dropped(net, "drop", net("norm", norm, net("positions", LearnedPositions{init}, x)));
    for (std::size_t i = 0; i < layers; ++i) x = block(net, i, x);
    x = net("transform", dense(width), net(GatherRows{}, x, positions));
    x = net("transform_norm", norm, net("gelu", Gelu{}, x));
    const SharedTensor bias = net.tensor("logits.bias", Kind::bias, {vocabulary}, Init::zeros, 1, vocabulary);
    return net("logits", TiedLogits{.table = table, .bias = bias, .vocabulary = vocabulary, .width = width}, x);
  }

 private:
  static constexpr LayerNorm norm{.eps = 1e-12};

  constexpr Dense dense(std::size_t units) const { return {.units = units, .init = init}; }
  template <class Net>
  constexpr Value dropped(Net& net, const char* name, Value x) const {
    return dropout != 0 ? net(name, Dropout{.rate = dropout}, x) : x;
  }
  template <class Net>
  constexpr Value block(Net& net, std::size_t i, Value x) const {
    const typename Net::Scope scope(net, {"block", i});
    Value y = net("attention", Attention{.heads = heads}, net("qkv", dense(3 * width), x));
    y = dropped(net, "drop_1", net("out", dense(width), y));
    x = net("norm_1", norm, net("sum_1", Sum{}, x, y));
    y = net("gelu", Gelu{}, net("up", dense(hidden == 0 ? 4 * width : hidden), x));
    y = dropped(net, "drop_2", net("down", dense(width), y));
    return net("norm_2", norm, net("sum_2", Sum{}, x, y));
  }
};

}  // namespace algoperf
