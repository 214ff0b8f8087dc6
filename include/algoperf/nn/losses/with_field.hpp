#pragma once

#include "../graph/model_graph.hpp"

namespace algoperf {

// A loss that also declares a field of the batch, which it does not read, for a metric that does (Metric::fields in
// nn/concept.hpp). The field has metric_field_shape elements of type `parameter` for each row of the outputs.
//   TrainingLoop loop(model, WithField{MeanAbsoluteError{}, "intensity", {3}}, adamw(), ...);
template <class Loss>
struct WithField : Loss {
  const char* metric_field;
  Shape metric_field_shape;

  template <class Net>
  constexpr void declare_fields(Net& net, const Value& outputs) const {
    (void)net.field(metric_field, metric_field_shape, outputs.axis, ElementType::parameter);
  }
};
template <class Loss>
WithField(Loss, const char*, Shape) -> WithField<Loss>;

}  // namespace algoperf
