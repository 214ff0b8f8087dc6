// Model: layers and blocks in order (a Sequential) together with the shape of one input example. It is a model function
// (nn/graph/op.hpp) of the field "input".
//
//   const Model mlp(Shape{784}, Dense{.units = 256}, Relu{}, Dense{.units = 10});
//   static_assert(mlp.cost().parameters == 203530);
//
// mlp.with_init(Init::torch_uniform) is the same model with other initial weights in every layer whose `init` is
// Init::standard. The default is He normal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "graph/graph_cost.hpp"
#include "init.hpp"
#include "sequential.hpp"

namespace algoperf {

template <class... Parts>
class Model {
 public:
  // Whether a part may have buffers (nn/concept.hpp). Unknown blocks may.
  static constexpr bool has_buffers = Sequential<Parts...>::has_buffers;
  static constexpr bool reads_tokens = Sequential<Parts...>::reads_tokens;
  // The element type of the input if activations have element type S.
  template <class S>
  using Input = std::conditional_t<reads_tokens, std::int32_t, S>;

  constexpr explicit Model(Shape input, const Parts&... parts) : input_(input), parts_(parts...) {}

  // Returns a copy whose layers with Init::standard draw their weights from `init`.
  constexpr Model with_init(Init init) const {
    Model copy = *this;
    copy.init_ = init;
    return copy;
  }
  constexpr Init init() const { return init_; }

  template <class Net>
  constexpr Value operator()(Net& net) const {
    net.set_standard_init(init_);
    constexpr ElementType type = reads_tokens ? ElementType::token : ElementType::activation;
    const Value y = parts_(net, net.field("input", input_, examples_axis, type));
    net.check(y.axis == examples_axis, {}, "a Model has one row of outputs per example, but its last part has rows on ",
              "the axis '", net.axis_name(y), "'; net.examples_of() joins the rows of an example");
    return y;
  }

  constexpr Shape input() const { return input_; }
  // These record the model, which takes some microseconds.
  constexpr Shape output() const {
    Recorder<> net;
    return (*this)(net).shape;
  }
  // Returns the number of tokens that the input may have, for a model that reads tokens.
  constexpr std::size_t tokens() const {
    Recorder<> net;
    (*this)(net);
    return net.graph().values[0].tokens;
  }
  // Returns the number of trained parameters, the same as Layout::parameters().
  constexpr std::uint64_t parameters() const { return parameters_of(*this); }
  // Returns the cost of one example.
  constexpr Cost cost() const { return model_cost(*this); }

  constexpr const Sequential<Parts...>& parts() const { return parts_; }

 private:
  Shape input_;
  Sequential<Parts...> parts_;
  Init init_ = Init::standard;
};

}  // namespace algoperf
