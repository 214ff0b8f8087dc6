#pragma once

#include <cstddef>

#include "../layers/batch_norm.hpp"
#include "../layers/dropout.hpp"
#include "../layers/glu.hpp"
#include "../layers/layer_norm.hpp"
#include "../layers/relu.hpp"
#include "../layers/silu.hpp"
#include "../ops/attention.hpp"
#include "../ops/depthwise_conv1d.hpp"
#include "../ops/per_dim_scale.hpp"
#include "../ops/scale_rows.hpp"
#include "../ops/sine_positions.hpp"
#include "../ops/sum.hpp"
#include "glorot_dense.hpp"
#include "speech_subsampling.hpp"

namespace algoperf {

// A Conformer: a speech recogniser whose blocks combine self-attention with convolutions over time, for CtcLoss. A
// model function of the field "input" on the ragged axis "frames". Row i holds the log-mel frames from 4 i to 4 i + 6,
// {7, bands, 1} (data/speech_fields.hpp).
//   TrainingLoop loop(Conformer<>{.symbols = 11}, CtcLoss{}, adamw(), ...);
//   x = positions + dense(relu(conv_2(relu(conv_1(input)))));   `blocks` times:
//     x += feed_forward(x) / 2;   x += out(attention(norm(x)));   x += convolution(x);   x += feed_forward(x) / 2;
//     x = norm(x)
//   logits = dense(norm(x));   feed_forward = down(act(up(norm(x))));
//   convolution = dense(act(batch_norm(depthwise_convolution(glu(dense(norm(x)))))))
// Tensors: conv_1, conv_2, subsampled; block.<i>.feed_forward_1.{norm, up, down}, .attention.{norm, query,
//   query_scale, kv, out}, .convolution.{norm, gated, depthwise, batch_norm, out}, .feed_forward_2, .norm; norm;
//   logits. `gated` and `kv` each hold two dense layers in one tensor, with the initial values of two.
// Hyperparameters: bands; width; blocks; heads; hidden, of feed_forward, 0 for 4 width; kernel, the size of the
//   depthwise convolution; symbols, with the blank; block_norm: whether each block ends with a layer norm;
//   attention_temperature: multiplies attention's output (AlgoPerf's name); dropout, after the positions, `up`, and
//   each branch; activation.
// Initial values: Glorot uniform; biases zeros.
// Source: Gulati et al. 2020, arXiv:2005.08100, as in AlgoPerf's librispeech_conformer: absolute positions, biases in
//   attention, queries scaled by PerDimScale. Departures from AlgoPerf: the convolutions over spectrograms do not pad;
//   a norm's scale is not stored as 1 + scale; batch norms have momentum 0.1 instead of 0.001.
// Batch norms normalise over the frames of all examples of a batch.
template <class Activation = Silu>
struct Conformer {
  std::size_t bands = 40, width = 32, blocks = 2, heads = 4, hidden = 0, kernel = 5, symbols = 11;
  bool block_norm = true;
  double attention_temperature = 1, dropout = 0;
  Activation activation = {};

  template <class Net>
  constexpr Value operator()(Net& net) const {
    Value x = detail::subsampled_speech(net, bands, width, Relu{});
    x = dropped(net, "drop", net("positions", SinePositions{}, x));
    for (std::size_t i = 0; i < blocks; ++i) {
      const typename Net::Scope scope(net, {"block", i});
      x = net("sum_1", Sum{}, x, feed_forward(net, "feed_forward_1", x));
      x = net("sum_2", Sum{}, x, attended(net, x));
      x = net("sum_3", Sum{}, x, convolved(net, x));
      x = net("sum_4", Sum{}, x, feed_forward(net, "feed_forward_2", x));
      if (block_norm) x = net("norm", norm, x);
    }
    Dense logits = detail::glorot_dense(width, symbols);
    logits.output_layer = true;
    return net("logits", logits, net("norm", norm, x));
  }

 private:
  static constexpr LayerNorm norm{.eps = 1e-6};

  template <class Net>
  constexpr Value dropped(Net& net, const char* name, Value x) const {
    return dropout != 0 ? net(name, Dropout{.rate = dropout}, x) : x;
  }
  // Half of a feed-forward layer's output.
  template <class Net>
  constexpr Value feed_forward(Net& net, const char* name, Value x) const {
    const typename Net::Scope scope(net, name);
    const std::size_t units = hidden == 0 ? 4 * width : hidden;
    Value y = net("act", activation, net("up", detail::glorot_dense(width, units), net("norm", norm, x)));
    y = net("down", detail::glorot_dense(units, width), dropped(net, "drop_up", y));
    return net("half", ScaleRows{0.5}, dropped(net, "drop", y));
  }
  template <class Net>
  constexpr Value attended(Net& net, Value x) const {
    const typename Net::Scope scope(net, "attention");
    const Value y = net("norm", norm, x);
    const Value query = net("query_scale", PerDimScale{heads}, net("query", detail::glorot_dense(width, width), y));
    const Value kv = net("kv", detail::glorot_dense(width, 2 * width, 2), y);
    Value mixed = net("attention", Attention{.heads = heads}, query, kv);
    if (attention_temperature != 1) mixed = net("temperature", ScaleRows{attention_temperature}, mixed);
    return dropped(net, "drop", net("out", detail::glorot_dense(width, width), mixed));
  }
  template <class Net>
  constexpr Value convolved(Net& net, Value x) const {
    const typename Net::Scope scope(net, "convolution");
    Value y = net("glu", Glu{}, net("gated", detail::glorot_dense(width, 2 * width, 2), net("norm", norm, x)));
    y = net("batch_norm", BatchNorm{.eps = 1e-3}, net("depthwise", DepthwiseConv1d{.size = kernel}, y));
    return dropped(net, "drop", net("out", detail::glorot_dense(width, width), net("act", activation, y)));
  }
};

}  // namespace algoperf
