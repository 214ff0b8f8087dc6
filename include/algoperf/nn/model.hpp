// Model: a layer (a Sequential, usually) and the shape of one example, with all it needs to run a batch.
//
//   const Model mlp(Shape{784}, Dense{.units = 256}, Relu{}, Dense{.units = 10});
//   static_assert(mlp.cost().parameters == 203530);
#pragma once

#include <cstddef>

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

  constexpr Shape input() const { return input_; }
  constexpr const Root& root() const { return root_; }
  constexpr Shape output() const { return root_.output(input_); }
  constexpr std::size_t tokens() const requires(detail::HasTokens<Root>) { return root_.tokens(); }
  // How many are trained, as Layout::parameters().
  constexpr std::uint64_t parameters() const { return root_.parameters(input_); }
  // Tell a tally (core/cost.hpp) the operations on a batch: their outputs and what layers keep are held from the way
  // forward to the way back, gradients of parameters from there on.
  template <class Tally>
  constexpr void count_forward(std::uint64_t batch, Tally& tally) const {
    root_.count_forward(input_, batch, tally, true);
  }
  template <class Tally>
  constexpr void count_backward(std::uint64_t batch, Tally& tally) const {
    root_.count_backward(input_, batch, false, tally, true);
  }
  // Of one example.
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
    root_.initialize(set, handles, input_);
  }

  // The outputs of call.batch examples at x, one a row; they lie in call.kept.
  template <class B, class X>
  const Stored<B>* forward(const LayerCall<B>& call, const Handles& handles, const X* x) const {
    return root_.forward(call, handles, input_, x);
  }
  // Writes the gradients of every tensor, from d_outputs of the same batch that forward was given last; and the
  // gradient of x, if d_input is not null.
  template <class B, class X>
  void backward(const LayerCall<B>& call, const Handles& handles, const X* x, const Stored<B>* d_outputs,
                Stored<B>* d_input = nullptr) const {
    root_.backward(call, handles, input_, x, static_cast<const Stored<B>*>(nullptr), d_outputs, d_input);
  }

 private:
  Shape input_;
  Root root_;
};

template <class... Layers>
Model(Shape, Layers...) -> Model<Sequential<Layers...>>;

}  // namespace algoperf
