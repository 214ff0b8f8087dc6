#pragma once

#include "../ops/loss_of.hpp"
#include "model_graph.hpp"

namespace algoperf {

// A model function that also reads the field "label", and the weights of a Weighted loss: the loss of each row of the
// model's outputs. The outputs stay readable after the forward pass.
template <class ModelFunction, class Loss>
struct Objective {
  ModelFunction model;
  Loss loss;

  template <class Net>
  constexpr Value operator()(Net& net) const {
    const Value outputs = model(net);
    net.keep(outputs);
    const Value labels = LossOf<Loss>::takes_classes
                             ? net.tokens("label", {1}, outputs.axis)
                             : net.field("label", outputs.shape, outputs.axis, ElementType::parameter);
    if constexpr (detail::HasWeightField<Loss>)
      return net(LossOf(loss), outputs, labels,
                 net.field(loss.weight_field, {1}, outputs.axis, ElementType::parameter));
    else
      return net(LossOf(loss), outputs, labels);
  }
};

}  // namespace algoperf
