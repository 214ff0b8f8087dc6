#pragma once

#include <cstddef>
#include <utility>

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
// Shapes and errors: the part's. Source: JAX's stop_gradient; Keras's trainable = False, which treats BatchNorm in the
// same way (here dropout is off, too). In torch: requires_grad_(False) and eval() of the module, in no_grad().
// Cost: the part's forward, and nothing backward.
template <class Part>
class StopGradient {
  static_assert(detail::explain_model_part<Part>());

 public:
  static constexpr bool reads_tokens = detail::reads_tokens<Part>();
  static constexpr bool has_buffers = false;  // none that a step updates

  constexpr explicit StopGradient(const Part& part) : part_(part) {}

  template <class Net>
  constexpr Value record(Net& net, OpName name, Value x) const {
    const typename Net::Fixed fixed(net);
    return net(name, part_, x);
  }

 private:
  Part part_;
};

namespace detail {

template <bool stops, class Part>
constexpr auto stopped(const Part& part) {
  if constexpr (stops)
    return StopGradient<Part>(part);
  else
    return part;
}
template <std::size_t count, class... Parts, std::size_t... i>
constexpr auto stopped(const Model<Parts...>& model, std::index_sequence<i...>) {
  return Model(model.input(), stopped<(i < count)>(get<i>(model.parts().parts()))...).with_init(model.init());
}

}  // namespace detail

// Returns the model with each of its first `count` parts wrapped in a StopGradient of its own, so that tensor names do
// not change.
template <std::size_t count, class... Parts>
constexpr auto stop_gradient(const Model<Parts...>& model) {
  static_assert(count < sizeof...(Parts),
                "algoperf: stop_gradient<count>(model) must leave at least one layer to train: count must be less than "
                "the number of the model's layers");
  return detail::stopped<count>(model, std::make_index_sequence<sizeof...(Parts)>{});
}

}  // namespace algoperf
