#pragma once

#include <cstddef>
#include <utility>

#include "concept.hpp"
#include "graph/model_graph.hpp"
#include "init.hpp"
#include "model.hpp"

namespace algoperf {

// Wraps a layer that is not trained, for example a pretrained body. forward computes the layer's output in evaluation
// mode: dropout drops nothing, and batch norm uses its running averages without updating them. backward sets the
// gradient of the input to 0.
//   Model(Shape{28, 28, 1}, StopGradient(Conv2d{.filters = 32, .size = 5}), Relu{}, Flatten{}, Dense{.units = 10})
//   stop_gradient<2>(mlp(Shape{784}, {256}, 10))      a model whose first layers are not trained
// The wrapper does not change the names of the layer's tensors, so load_values and values_dict work with and
// without it. A full checkpoint loads only into a model with the same wrappers. The tensors are initialised, loaded and
// saved as usual. Rules do not see them, so weight decay and gradient clipping do not include them.
// If no layer before the wrapper is trained, the backward pass computes nothing from the wrapper down to the input.
// If an earlier layer is trained, its gradient is 0, so only weight decay changes its parameters. gradient_check
// reports this zero gradient as an error, because its finite differences include the wrapped layer.
// Shapes and errors: the layer's. Source: JAX's stop_gradient; Keras's trainable = False, which treats BatchNorm in the
// same way (here dropout is off, too). In torch: requires_grad_(False) and eval() of the module, in no_grad().
// Cost: the layer's forward, counted as in training, and nothing backward; its memory is the layer's.
template <class L>
class StopGradient {
  static_assert(detail::explain_layer<L>());

 public:
  using Handles = typename L::Handles;
  template <class S>
  using Input = LayerInput<L, S>;
  static constexpr bool in_place = detail::HasInPlace<L>;
  static constexpr bool view = detail::HasView<L>;
  static constexpr bool reads_output = false;

  constexpr explicit StopGradient(const L& layer) : layer_(layer) {}

  constexpr Shape output(Shape in) const { return layer_.output(in); }
  constexpr std::size_t tokens() const requires(detail::HasTokens<L>) { return layer_.tokens(); }
  constexpr ModelPart part() const { return detail::part_of(layer_); }
  constexpr std::uint64_t parameters(Shape) const { return 0; }
  template <class Tally>
  constexpr void count_forward(Shape in, std::uint64_t batch, Tally& tally) const {
    OperationsOnly<Tally> operations{tally};  // the enclosing layer counts the memory, as memory(in)
    layer_.count_forward(in, batch, operations);
  }
  template <class Tally>
  constexpr void count_backward(Shape in, std::uint64_t batch, bool input_gradient, Tally& tally) const {
    if (input_gradient) tally.operation({"stopped gradient", 0, 0, batch * in.size()});
  }
  constexpr LayerMemory memory(Shape in) const { return layer_.memory(in); }

  Handles declare(Layout& layout, const std::string& name, Shape in) const {
    const std::size_t before = layout.tensors().size();
    const Handles handles = layer_.declare(layout, name, in);
    layout.fix_since(before);
    return handles;
  }
  template <class S>
  void initialize(Initializer<S>& set, const Handles& handles, Shape in) const {
    if constexpr (detail::Initializes<L, S>) layer_.initialize(set, handles, in);
  }

  template <class Net>
  constexpr Value record(Net& net, OpName name, Value x) const {
    const typename Net::Fixed fixed(net);
    return net(name, layer_, x);
  }

  template <class B, class X, class S>
  void forward(const LayerCall<B>& call, const Handles& handles, Shape in, const X* x, S* y) const {
    LayerCall<B> evaluation = call;
    evaluation.mode = Mode::evaluate;
    layer_.forward(evaluation, handles, in, x, y);
  }
  template <class B, class X, class S>
  void backward(const LayerCall<B>& call, const Handles&, Shape in, const X*, const S*, const S*, S* dx) const {
    if (dx != nullptr) call.backend.fill(call.batch * in.size(), dx, S(0));
  }

 private:
  template <class Tally>
  struct OperationsOnly {
    Tally& tally;
    constexpr void operation(const Operation& o) const { tally.operation(o); }
    constexpr void hold(std::uint64_t) const {}
    constexpr void release(std::uint64_t) const {}
    constexpr void gradient(std::uint64_t, ModelPart) const {}
  };

  L layer_;
};

namespace detail {

template <bool stops, class L>
constexpr auto stopped(const L& layer) {
  if constexpr (stops)
    return StopGradient<L>(layer);
  else
    return layer;
}
template <std::size_t count, class... Layers, std::size_t... i>
constexpr auto stopped(const Model<Sequential<Layers...>>& model, std::index_sequence<i...>) {
  return Model(model.input(), stopped<(i < count)>(get<i>(model.root().layers()))...).with_init(model.init());
}

}  // namespace detail

// Returns the model with each of its first `count` layers wrapped in a StopGradient of its own, so that tensor names do
// not change.
template <std::size_t count, class... Layers>
constexpr auto stop_gradient(const Model<Sequential<Layers...>>& model) {
  static_assert(count < sizeof...(Layers),
                "algoperf: stop_gradient<count>(model) must leave at least one layer to train: count must be less than "
                "the number of the model's layers");
  return detail::stopped<count>(model, std::make_index_sequence<sizeof...(Layers)>{});
}

}  // namespace algoperf
