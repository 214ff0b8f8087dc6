#pragma once

#include <cstddef>

#include "../../core/square_root.hpp"
#include "../graph/recorder.hpp"
#include "../layers/dropout.hpp"
#include "../layers/layer_norm.hpp"
#include "../layers/relu.hpp"
#include "../ops/attention.hpp"
#include "../ops/look_up.hpp"
#include "../ops/product.hpp"
#include "../ops/scale_rows.hpp"
#include "../ops/sine_positions.hpp"
#include "../ops/sum.hpp"
#include "../ops/tied_logits.hpp"
#include "glorot_dense.hpp"

namespace algoperf {

// A Transformer that translates: an encoder reads the tokens of a sentence, and a decoder predicts each token of its
// translation from the tokens before it and the encoder's output. A model function of two fields: "source", tokens on
// the ragged axis "source", and "input", a token that begins the translation and then its tokens, on the ragged axis
// "target". Its outputs are the logits of the token after each row of "input". Its labels are the tokens of the
// translation and a token that ends it (data/translation_fields.hpp).
//   TrainingLoop loop(EncoderDecoder<>{.vocabulary = 2000}, SoftmaxCrossEntropy{.label_smoothing = 0.1}, adamw(), ...);
// An encoder block computes x += out(attention(norm(x))), x += mlp(norm(x)), where mlp(x) = down(act(up(x))). A decoder
// block applies causal self-attention, then cross-attention to the encoder's output,
// y += out(attention(query(norm(y)), kv(encoded))), and then the mlp.
// Tensors: embedding {vocabulary, width}, of both languages and of the logits; encoder.<i>.self.{norm, qkv, out},
//   encoder.<i>.mlp.{norm, up, gate, down}, encoder.norm; decoder.<i>.self, decoder.<i>.cross.{norm, query, kv, out},
//   decoder.<i>.mlp, decoder.norm.
// Hyperparameters: vocabulary; width; blocks, of the encoder and of the decoder; heads; hidden, of an mlp;
//   post_norm: x = norm(x + f(x)) instead of x + f(norm(x)), without encoder.norm and decoder.norm; glu: the activated
//   hidden layer is multiplied by gate(norm(x)), a third dense layer; attention_temperature: multiplies the attention
//   scores before the softmax (AlgoPerf's name); dropout, after the positions, hidden layers and branches; activation.
// Initial values: the embedding normal with variance 1; weights Glorot uniform; biases of the mlps' dense layers normal
//   with a standard deviation of 1e-6. The other dense layers have no biases.
// Source: Vaswani et al. 2017, arXiv:1706.03762, as in AlgoPerf's wmt: norms first, and logits divided by sqrt(width).
//   Departs from AlgoPerf: training does not pack several sentences into one sequence.
template <class Activation = Relu>
struct EncoderDecoder {
  std::size_t vocabulary = 2000, width = 64, blocks = 2, heads = 4, hidden = 64;
  bool post_norm = false, glu = false;
  double attention_temperature = 1, dropout = 0;
  Activation activation = {};

  template <class Net>
  constexpr Value operator()(Net& net) const {
    net.check(heads > 0 && width % heads == 0, {}, "EncoderDecoder has heads ", heads,
              ", expected a divisor of the width, ", width);
    net.check(attention_temperature > 0, {}, "EncoderDecoder: attention_temperature is not positive");
    const Value source = net.tokens("source", {1}, net.ragged_axis("source")),
                input = net.tokens("input", {1}, net.ragged_axis("target"));
    const SharedTensor table =
        net.tensor("embedding", Kind::embedding, {vocabulary, width}, Init::unit_normal, width, vocabulary);
    const LookUp embedding{.table = table, .vocabulary = vocabulary, .width = width};
    Value x = placed(net, "source", net("source", embedding, source));
    for (std::size_t i = 0; i < blocks; ++i) {
      const typename Net::Scope scope(net, {"encoder", i});
      x = with_mlp(net, with_self_attention(net, x, false));
    }
    if (!post_norm) x = net("encoder.norm", norm, x);
    Value y = placed(net, "target", net("target", embedding, input));
    for (std::size_t i = 0; i < blocks; ++i) {
      const typename Net::Scope scope(net, {"decoder", i});
      y = with_mlp(net, with_cross_attention(net, with_self_attention(net, y, true), x));
    }
    if (!post_norm) y = net("decoder.norm", norm, y);
    y = net("scale", ScaleRows{1 / detail::square_root(static_cast<double>(width))}, y);
    return net("logits", TiedLogits{.table = table, .vocabulary = vocabulary, .width = width}, y);
  }

 private:
  static constexpr LayerNorm norm{.eps = 1e-6};

  static constexpr Dense without_bias(Dense layer) {
    layer.bias = false;
    return layer;
  }
  static constexpr Dense with_small_biases(Dense layer) {
    layer.bias_init = Init::normal(1e-6);
    return layer;
  }
  constexpr Attention attention(bool causal) const {
    const double size = static_cast<double>(width / heads);
    return {.heads = heads, .causal = causal, .scale = attention_temperature / detail::square_root(size)};
  }
  template <class Net>
  constexpr Value dropped(Net& net, const char* name, Value x) const {
    return dropout > 0 ? net(name, Dropout{.rate = dropout}, x) : x;
  }
  template <class Net>
  constexpr Value placed(Net& net, const char* name, Value x) const {
    const typename Net::Scope scope(net, name);
    return dropped(net, "drop", net("positions", SinePositions{}, x));
  }
  // Returns the input of a branch.
  template <class Net>
  constexpr Value before(Net& net, Value x) const {
    return post_norm ? x : net("norm", norm, x);
  }
  // Returns x + branch, or with post_norm the norm of it.
  template <class Net>
  constexpr Value after(Net& net, Value x, Value branch) const {
    x = net("sum", Sum{}, x, dropped(net, "drop", branch));
    return post_norm ? net("norm", norm, x) : x;
  }

  template <class Net>
  constexpr Value with_self_attention(Net& net, Value x, bool causal) const {
    const typename Net::Scope scope(net, "self");
    const Value qkv = net("qkv", without_bias(detail::glorot_dense(width, 3 * width, 3)), before(net, x));
    const Value mixed = net("attention", attention(causal), qkv);
    return after(net, x, net("out", without_bias(detail::glorot_dense(width, width)), mixed));
  }
  template <class Net>
  constexpr Value with_cross_attention(Net& net, Value x, Value encoded) const {
    const typename Net::Scope scope(net, "cross");
    const Value query = net("query", without_bias(detail::glorot_dense(width, width)), before(net, x));
    const Value kv = net("kv", without_bias(detail::glorot_dense(width, 2 * width, 2)), encoded);
    const Value mixed = net("attention", attention(false), query, kv);
    return after(net, x, net("out", without_bias(detail::glorot_dense(width, width)), mixed));
  }
  template <class Net>
  constexpr Value with_mlp(Net& net, Value x) const {
    const typename Net::Scope scope(net, "mlp");
    const Dense up = with_small_biases(detail::glorot_dense(width, hidden));
    const Value y = before(net, x);
    Value h = net("act", activation, net("up", up, y));
    if (glu) h = net("gated", Product{}, h, net("gate", up, y));
    h = dropped(net, "drop_up", h);
    return after(net, x, net("down", with_small_biases(detail::glorot_dense(hidden, width)), h));
  }
};

}  // namespace algoperf
