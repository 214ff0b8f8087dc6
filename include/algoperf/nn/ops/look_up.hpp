#pragma once

#include <array>
#include <cstddef>

#include "../graph/op.hpp"
#include "../layers/embedding.hpp"

namespace algoperf {

// The rows of a shared table at the input's tokens: {context} tokens to {context, width} elements, or {width} if the
// input's shape is {1}. An Embedding is the layer with a table of its own. The gradient is dense and summed in a fixed
// order. Cost: 0 FLOPs forward, 1 per output element backward.
struct LookUp {
  SharedTensor table = {};  // {vocabulary, width}
  std::size_t vocabulary = 1, width = 1;
  static constexpr const char* name = "look_up";

  constexpr std::array<SharedTensor, 1> tensors() const { return {table}; }
  constexpr std::size_t tokens(const std::array<Value, 1>&, std::size_t) const { return vocabulary; }
  template <class Net>
  constexpr Value output(const Net& net, OpName own, const std::array<Value, 1>& x) const {
    net.check(x[0].type == ElementType::token, own, "the input holds activations of shape ", x[0].shape,
              ", expected tokens");
    const std::size_t context = x[0].shape.size();
    return {no_index, x[0].axis, context == 1 ? Shape{width} : Shape{context, width}, ElementType::activation};
  }
  constexpr OpTraits traits(const std::array<Value, 1>&) const { return {.decodes = true}; }
  template <class Net, class Tally>
  constexpr void count_forward(const Net& net, const std::array<Value, 1>& x, Tally& tally) const {
    Embedding{vocabulary, width}.count_forward(x[0].shape, net.rows(x[0]), tally);
  }
  template <class Net, class Tally>
  constexpr void count_backward(const Net& net, const std::array<Value, 1>& x, Tally& tally) const {
    Embedding{vocabulary, width}.count_backward(x[0].shape, net.rows(x[0]), false, tally);
  }

  template <class Call>
  void forward(const Call& call) const {
    call.pass.backend.for_each_row(
        tokens(call), width,
        Embedding::LookUp<typename Call::S>{width, call.tokens(0), call.weight(table), call.out()});
  }
  template <class Call>
  void backward(const Call& call) const {
    auto* const gradient = call.gradient(table);
    if (gradient == nullptr) return;
    if (!call.adds_to_tensor(0)) call.pass.backend.fill(vocabulary * width, gradient, typename Call::Scalar(0));
    call.pass.backend.add_rows(tokens(call), width, call.tokens(0), call.d_out(), gradient);
  }

 private:
  template <class Call>
  static std::size_t tokens(const Call& call) {
    return call.rows(0) * call.in_shape(0).size();
  }
};

}  // namespace algoperf
