#pragma once

#include <cstddef>

#include "../layers/batch_norm.hpp"
#include "../layers/dense.hpp"
#include "../layers/dropout.hpp"
#include "../layers/layer_norm.hpp"
#include "../layers/relu.hpp"
#include "../ops/concat.hpp"
#include "../ops/lstm.hpp"
#include "../ops/sum.hpp"
#include "speech_subsampling.hpp"

namespace algoperf {

// A speech recogniser: convolutions that keep a quarter of the frames, LSTMs in both directions, and dense layers, for
// CtcLoss. A model function of the field "input" on the ragged axis "frames". Row i holds the log-mel frames from 4 i
// to 4 i + 6, {7, bands, 1}: what two convolutions of size 3 and stride 2 read for one of their outputs
// (data/speech_fields.hpp).
//   TrainingLoop loop(DeepSpeech<>{.symbols = 11}, CtcLoss{}, adamw(), ...);
//   x = dense(act(conv_2(act(conv_1(input)))));   x += lstm(norm(x)), `recurrent` times;
//   x += act(dense(norm(x))), `feed_forward` times;   logits = dense(norm(x))
// Tensors: conv_1, conv_2, subsampled; recurrent.<i>.norm, .forward and .backward (Lstm); feed_forward.<i>.norm and
//   .dense; norm; logits.
// Hyperparameters: bands; width, even: of the convolutions and of all layers; recurrent; feed_forward; symbols, with
//   the blank; residual: whether layers add to x or replace it; layer_norm: the norms before layers are layer norms
//   instead of batch norms, and there is none before the logits; dropout, after `subsampled` and the dense layers;
//   activation.
// Initial values: Glorot uniform, and those of Lstm; biases zeros.
// Source: Amodei et al. 2016, arXiv:1512.02595, as in AlgoPerf's librispeech_deepspeech. Departures from AlgoPerf: the
//   convolutions do not pad; a norm's scale starts as 1 and is not stored as 1 + scale; batch norms have momentum 0.1
//   instead of 0.001, and layer norms eps 1e-5 instead of 1e-6.
// Batch norms normalise over the frames of all examples of a batch.
template <class Activation = Relu>
struct DeepSpeech {
  std::size_t bands = 40, width = 32, recurrent = 2, feed_forward = 1, symbols = 11;
  bool residual = true, layer_norm = false;
  double dropout = 0;
  Activation activation = {};

  template <class Net>
  constexpr Value operator()(Net& net) const {
    net.check(width > 0 && width % 2 == 0, {}, "DeepSpeech has width ", width, ", expected an even number");
    Value x = detail::subsampled_speech(net, bands, width, activation);
    x = dropped(net, "drop", x);
    for (std::size_t i = 0; i < recurrent; ++i) {
      const typename Net::Scope scope(net, {"recurrent", i});
      const Value y = norm(net, x);
      const Value forward = net("forward", Lstm{.units = width / 2}, y);
      const Value backward = net("backward", Lstm{.units = width / 2, .reverse = true}, y);
      x = joined(net, x, net("both", Concat{}, forward, backward));
    }
    for (std::size_t i = 0; i < feed_forward; ++i) {
      const typename Net::Scope scope(net, {"feed_forward", i});
      const Value y = net("act", activation, net("dense", dense(width), norm(net, x)));
      x = joined(net, x, dropped(net, "drop", y));
    }
    if (!layer_norm) x = net("norm", LayerNorm{}, x);
    Dense logits = dense(symbols);
    logits.output_layer = true;
    return net("logits", logits, x);
  }

 private:
  static constexpr Dense dense(std::size_t units) { return {.units = units, .init = Init::glorot_uniform}; }
  template <class Net>
  constexpr Value norm(Net& net, Value x) const {
    return layer_norm ? net("norm", LayerNorm{}, x) : net("norm", BatchNorm{.eps = 1e-3}, x);
  }
  template <class Net>
  constexpr Value joined(Net& net, Value x, Value y) const {
    return residual ? net("sum", Sum{}, x, y) : y;
  }
  template <class Net>
  constexpr Value dropped(Net& net, const char* name, Value x) const {
    return dropout != 0 ? net(name, Dropout{.rate = dropout}, x) : x;
  }
};

}  // namespace algoperf
