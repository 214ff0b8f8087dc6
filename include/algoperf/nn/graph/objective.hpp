#pragma once

#include "../ops/loss_of.hpp"
#include "model_graph.hpp"

namespace algoperf {

// A model function of one more field than `model`: the loss of the model's outputs for the labels in the field "label".
// The outputs stay readable after the forward pass.
template <class ModelFunction, class Loss>
struct Objective {
  ModelFunction model;
  Loss loss;

  template <class Net>
  constexpr Value operator()(Net& net) const {
    const Value outputs = model(net);
    net.keep(outputs);
    if constexpr (LossOf<Loss>::takes_classes)
      return net(LossOf(loss), outputs, net.tokens("label", {1}, outputs.axis));
    else
      return net(LossOf(loss), outputs, net.field("label", outputs.shape, outputs.axis, ElementType::parameter));
  }
};

}  // namespace algoperf
