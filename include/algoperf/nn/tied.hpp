#pragma once

#include "layers/embedding.hpp"
#include "ops/look_up.hpp"
#include "ops/tied_logits.hpp"
#include "sequential.hpp"

namespace algoperf {

// Weight tying: an embedding whose table W is also the weight matrix of the logits. The parts in between map the
// embedded context to h, a row of `width` elements:  z = h W^T + b.
//   Tied(Embedding{.vocabulary = 65, .width = 24, .init = Init::lecun_normal}, Flatten{}, Dense{.units = 24}, Relu{})
// Shapes: in {context} of std::int32_t tokens, out {vocabulary}; `embedding.weight` {vocabulary, width}, whose gradient
//   is the sum of both uses, `bias` {vocabulary}. Recording the model throws Error if the parts' output does not have
//   `width` elements.
// Source: Press & Wolf 2017, arXiv:1608.05859; Inan et al. 2017. The table is initialised by the embedding's `init`:
//   unit_normal gives large logits, lecun_normal logits of about 1.
// Cost: the parts', plus 2 vocabulary width + vocabulary FLOPs forward and 4 vocabulary width + vocabulary backward.
template <class... Parts>
class Tied {
 public:
  static constexpr bool reads_tokens = true;
  static constexpr bool has_buffers = Sequential<Parts...>::has_buffers;

  constexpr explicit Tied(const Embedding& embedding, const Parts&... parts)
      : embedding_(embedding), inner_(parts...) {}

  template <class Net>
  constexpr Value operator()(Net& net, Value x) const {
    const std::size_t words = embedding_.vocabulary, width = embedding_.width;
    const SharedTensor table =
        net.tensor("embedding.weight", Kind::embedding, {words, width}, embedding_.init, width, words);
    const Value hidden = inner_(net, net(LookUp{.table = table, .vocabulary = words, .width = width}, x));
    net.check(hidden.shape.size() == width, {}, "Tied has layers with output shape ", hidden.shape, ", expected the ",
              width, " elements of a row of the table");
    const SharedTensor bias = net.tensor("bias", Kind::bias, {words}, Init::zeros, 1, 1, true);
    return net(TiedLogits{.table = table, .bias = bias, .vocabulary = words, .width = width}, hidden);
  }

 private:
  Embedding embedding_;
  Sequential<Parts...> inner_;
};

}  // namespace algoperf
