// Model: a layer (usually a Sequential) together with the shape of one input example.
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

#include "sequential.hpp"

namespace algoperf {

template <class Root>
class Model {
 public:
  using Handles = typename Root::Handles;
  static constexpr bool has_buffers = detail::HasBuffers<Root>;
  template <class S>
  using Input = LayerInput<Root, S>;

  template <class... Layers>
  constexpr explicit Model(Shape input, const Layers&... layers) : input_(input), root_(layers...) {}

  // Returns a copy whose layers with Init::standard draw their weights from `init`.
  constexpr Model with_init(Init init) const {
    Model copy = *this;
    copy.init_ = init;
    return copy;
  }

  constexpr Init init() const { return init_; }

  constexpr Shape input() const { return input_; }
  constexpr const Root& root() const { return root_; }
  constexpr Shape output() const { return root_.output(input_); }
  constexpr std::size_t tokens() const requires(detail::HasTokens<Root>) { return root_.tokens(); }
  // Returns the number of trained parameters, the same as Layout::parameters().
  constexpr std::uint64_t parameters() const { return root_.parameters(input_); }
  // Report the operations on a batch to a tally (core/cost.hpp). Outputs and the memory that layers keep are held from
  // the forward pass to the backward pass; gradients of parameters are held from the backward pass on.
  template <class Tally>
  constexpr void count_forward(std::uint64_t batch, Tally& tally) const {
    root_.count_forward(input_, batch, tally, true);
  }
  template <class Tally>
  constexpr void count_backward(std::uint64_t batch, Tally& tally) const {
    root_.count_backward(input_, batch, false, tally, true);
  }
  // Returns the cost of one example.
  constexpr Cost cost() const {
    CostSum forward;
    count_forward(1, forward);
    CostSum backward{.held = forward.held};
    count_backward(1, backward);
    return {parameters(), forward.flops, backward.flops, forward.held};
  }
  constexpr LayerMemory memory() const { return root_.memory(input_); }

  Handles declare(Layout& layout) const { return root_.declare(layout, "", input_); }
  template <class S>
  void initialize(Initializer<S>& set, const Handles& handles) const {
    set.set_standard(init_);
    root_.initialize(set, handles, input_);
  }

  // The model as a model function (nn/graph/op.hpp) of the field "input".
  template <class Net>
  constexpr Value operator()(Net& net) const {
    constexpr bool tokens = std::is_same_v<Input<float>, std::int32_t>;
    net.set_standard_init(init_);
    return root_(net, net.field("input", input_, examples_axis, tokens ? ElementType::token : ElementType::activation));
  }

  // Computes the outputs of the call.batch examples at x, one per row. The returned pointer points into call.kept.
  template <class B, class X>
  const Stored<B>* forward(const LayerCall<B>& call, const Handles& handles, const X* x) const {
    return root_.forward(call, handles, input_, x);
  }
  // Writes the gradients of every tensor, and the gradient of x if d_input is not null. d_outputs is the gradient of
  // the outputs of the batch that was last passed to forward.
  template <class B, class X>
  void backward(const LayerCall<B>& call, const Handles& handles, const X* x, const Stored<B>* d_outputs,
                Stored<B>* d_input = nullptr) const {
    root_.backward(call, handles, input_, x, static_cast<const Stored<B>*>(nullptr), d_outputs, d_input);
  }

 private:
  Shape input_;
  Root root_;
  Init init_ = Init::standard;
};

template <class... Layers>
Model(Shape, Layers...) -> Model<Sequential<Layers...>>;

}  // namespace algoperf
