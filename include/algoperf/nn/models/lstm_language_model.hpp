#pragma once

#include <cstddef>

#include "../layers/dense.hpp"
#include "../layers/dropout.hpp"
#include "../ops/look_up.hpp"
#include "../ops/lstm.hpp"

namespace algoperf {

// A recurrent language model: predicts each token of a sequence from the tokens up to the one before it. A model
// function of the field "input", `context` tokens per example, whose outputs are the logits of the next token at each
// position, on the axis "time". Each example starts with the state 0. The labels are the input tokens one position
// later, as in TextSequences.
//   TrainingLoop loop(LstmLanguageModel{.vocabulary = 65}, SoftmaxCrossEntropy{}, adamw(), ...);
// Tensors: embedding.weight {vocabulary, width}; lstm.<i> (Lstm); logits.weight {vocabulary, units} and logits.bias.
// Initial values: weights and the table by `init`, uniform within 1 / sqrt(fan in) by default; biases zeros.
// Source: Zaremba et al. 2014, arXiv:1409.2329: dropout, if any, is applied to the embedding and to the outputs of each
//   layer, but not from one time step to the next. Shallue et al. 2018 (arXiv:1811.03600) train such a model.
struct LstmLanguageModel {
  std::size_t vocabulary = 256;
  std::size_t context = 64;
  std::size_t width = 64;   // of the embedding
  std::size_t units = 128;  // of each layer
  std::size_t layers = 1;
  double dropout = 0;
  Init init = Init::torch_uniform;

  template <class Net>
  constexpr Value operator()(Net& net) const {
    net.check(context >= 1, {}, "context is 0, expected at least 1");
    const Value tokens = net.tokens("input", {1}, net.axis("time", context));
    const SharedTensor table =
        net.tensor("embedding.weight", Kind::embedding, {vocabulary, width}, init, width, vocabulary);
    const LookUp embedding{.table = table, .vocabulary = vocabulary, .width = width};
    // With so small a vocabulary, a batch of four examples has at least as many tokens as the table has rows.
    const bool look_up_gates = dropout == 0 && layers > 0 && vocabulary <= 4 * context;
    Value x = look_up_gates ? tokens : dropped(net, "drop", net("embedding", embedding, tokens));
    for (std::size_t i = 0; i < layers; ++i) {
      const Lstm layer{.units = units, .init = init, .embedding = i == 0 && look_up_gates ? embedding : LookUp{}};
      x = dropped(net, {"drop", i}, net({"lstm", i}, layer, x));
    }
    return net("logits", Dense{.units = vocabulary, .init = init, .output_layer = true}, x);
  }

 private:
  template <class Net>
  constexpr Value dropped(Net& net, OpName name, Value x) const {
    return dropout != 0 ? net(name, Dropout{.rate = dropout}, x) : x;
  }
};

}  // namespace algoperf
