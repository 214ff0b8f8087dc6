#pragma once

#include <array>
#include <cstddef>

#include "../graph/recorder.hpp"
#include "../layers/dense.hpp"
#include "../layers/layer_norm.hpp"
#include "../layers/relu.hpp"
#include "../ops/concat.hpp"
#include "../ops/dot_interactions.hpp"
#include "../ops/look_up.hpp"
#include "../ops/sum.hpp"

namespace algoperf {

// A deep learning recommendation model: predicts a click from numbers and categories.
//   b = bottom(numbers),   e_k = table[category k],   logit = top(b, dot_interactions(b, e_1, ..., e_n))
// where bottom and top are dense layers with ReLUs, without one after the logit. A model function of the fields
// "numbers" and "categories", tokens of one table, with one output: for SigmoidCrossEntropy.
//   TrainingLoop loop(Dlrm{.vocabulary = 4096}, SigmoidCrossEntropy{}, adamw(), ...);
// Hyperparameters: bottom and top, the widths of their hidden layers up to the first 0; bottom has one more layer, of
//   the table's width. residual: no such layer, no dot interactions, y = x + relu(dense(x)) where the width stays, and
//   top(b, e_1, ..., e_n). layer_norm: a layer norm after each ReLU and after the table.
// Tensors: table.weight {vocabulary, width}, bottom.<i>, top.<i>, logit, and the norms bottom.norm.<i>, top.norm.<i>,
//   table.norm.
// Source: Naumov et al. 2019, arXiv:1906.00091; structure, initial values and variants of AlgoPerf's criteo1tb: Glorot
//   uniform in bottom, Glorot normal in top, normal biases of variance 1 / units, and a table uniform in [0, 1 /
//   sqrt(vocabulary)) for 4096 categories, which is not centred.
struct Dlrm {
  static constexpr std::size_t max_layers = 6;

  std::size_t numbers = 6, categories = 8;  // of an example
  std::size_t vocabulary = 4096, width = 16;
  std::array<std::size_t, max_layers> bottom = {64, 32}, top = {64, 64, 32};
  bool residual = false, layer_norm = false;
  Init table_init = Init::uniform(0, 1.0 / 64);  // [0, 1 / sqrt(vocabulary)) for the default vocabulary

  template <class Net>
  constexpr Value operator()(Net& net) const {
    const SharedTensor table = net.tensor("table.weight", Kind::embedding, {vocabulary, width}, table_init, width, 1);
    const LookUp look_up{.table = table, .vocabulary = vocabulary, .width = width};
    Value e = net.reshape(net("table", look_up, net.tokens("categories", {categories})), {categories, width});
    if (layer_norm) e = net("table.norm", norm, e);
    Value b = net.field("numbers", {numbers});
    {
      const typename Net::Scope scope(net, "bottom");
      std::size_t i = 0;
      for (; i < max_layers && bottom[i] > 0; ++i) b = hidden(net, i, bottom[i], Init::glorot_uniform, b);
      if (!residual) b = hidden(net, i, width, Init::glorot_uniform, b);
    }
    const Value flat = net.reshape(e, {categories * width});
    Value x = net("joined", Concat{}, b, flat);
    if (!residual) {
      const Value products = net(DotInteractions{}, net.reshape(x, {categories + 1, width}));
      x = net("top_input", Concat{}, b, products);
    }
    {
      const typename Net::Scope scope(net, "top");
      for (std::size_t i = 0; i < max_layers && top[i] > 0; ++i) x = hidden(net, i, top[i], Init::glorot_normal, x);
    }
    return net("logit", dense(1, Init::glorot_normal, true), x);
  }

 private:
  static constexpr LayerNorm norm{.eps = 1e-6};
  static constexpr Dense dense(std::size_t units, Init init, bool output = false) {
    return {.units = units, .init = init, .output_layer = output, .bias_init = Init::fan_out_normal};
  }
  template <class Net>
  constexpr Value hidden(Net& net, std::size_t i, std::size_t units, Init init, Value x) const {
    Value y = net(Relu{}, net({"", i}, dense(units, init), x));
    if (residual && x.shape == y.shape) y = net(Sum{}, x, y);
    return layer_norm ? net({"norm", i}, norm, y) : y;
  }
};

}  // namespace algoperf
