#pragma once

#include <concepts>

#include "../ops/loss_of.hpp"
#include "model_graph.hpp"

namespace algoperf {

namespace detail {

// A loss that records itself from the model's outputs.
template <class Loss, class Net>
concept RecordsItself = requires(const Loss& loss, Net& net, const Value& outputs) {
  { loss(net, outputs) } -> std::same_as<Value>;
};

}  // namespace detail

// A model function with its loss. The outputs stay readable after the forward pass. A Loss (nn/concept.hpp) is computed
// for each row of the outputs, from the field "label" and, if it is Weighted, the field of its weights. WithField adds
// the field of a metric. A loss may
// instead be a function object that takes the recorder and the outputs, reads fields of any name, and returns the
// output of its only loss op:
//   struct NextWord {
//     template <class Net>
//     constexpr Value operator()(Net& net, Value outputs) const {
//       return net(LossOf(SoftmaxCrossEntropy{}), outputs, net.tokens("next", {1}, outputs.axis));
//     }
//   };
template <class ModelFunction, class Loss>
struct Objective {
  ModelFunction model;
  Loss loss;

  template <class Net>
  constexpr Value operator()(Net& net) const {
    const Value outputs = model(net);
    net.keep(outputs);
    if constexpr (requires { loss.declare_fields(net, outputs); }) loss.declare_fields(net, outputs);
    if constexpr (detail::RecordsItself<Loss, Net>) {
      return loss(net, outputs);
    } else {
      const Value labels = LossOf<Loss>::takes_classes
                               ? net.tokens("label", {1}, outputs.axis)
                               : net.field("label", outputs.shape, outputs.axis, ElementType::parameter);
      if constexpr (detail::HasWeightField<Loss>)
        return net(LossOf(loss), outputs, labels,
                   net.field(loss.weight_field, {1}, outputs.axis, ElementType::parameter));
      else
        return net(LossOf(loss), outputs, labels);
    }
  }
};
template <class ModelFunction, class Loss>
Objective(ModelFunction, Loss) -> Objective<ModelFunction, Loss>;

}  // namespace algoperf
