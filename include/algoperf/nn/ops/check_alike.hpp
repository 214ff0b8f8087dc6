#pragma once

#include <array>

#include "../graph/op.hpp"

namespace algoperf::detail {

// Reports an error unless a value holds activations.
template <class Net>
constexpr void check_activations(const Net& net, OpName own, const Value& x) {
  net.check(x.type == ElementType::activation, own, "expected activations, got tokens or losses of shape ", x.shape);
}

// Reports an error unless two values are activations of the same shape on the same axis.
template <class Net>
constexpr void check_alike(const Net& net, OpName own, const std::array<Value, 2>& x) {
  for (const Value& value : x) check_activations(net, own, value);
  net.check(x[0].shape == x[1].shape && x[0].axis == x[1].axis, own, "the inputs have shapes ", x[0].shape,
            " on the axis '", net.axis_name(x[0]), "' and ", x[1].shape, " on '", net.axis_name(x[1]),
            "', expected the same");
}

}  // namespace algoperf::detail
