// The concepts of a model function and its parts.
//
// A model function is a constexpr function object over a recorder. It names the fields that it reads, and returns a
// value:
//   struct TwoTowers {
//     template <class Net>
//     constexpr Value operator()(Net& net) const {
//       const Value image = net("image", Dense{.units = 8}, net.field("pixels", {64}));
//       const Value text = net("text", Dense{.units = 8}, net.field("words", {32}));
//       return net("out", Dense{.units = 2}, net(Concat{}, image, text));
//     }
//   };
// net(name, part, values...) records a part of the model. The name is optional. C++ does not define the order in
// which arguments are evaluated, so at most one argument of a call may itself record parts. A part is
//   a Layer (nn/concept.hpp), which has one input and is applied to each row of its axis;
//   an op, with any number of inputs and outputs; or
//   a block: a function object of a recorder and values, such as another model's. Its parts are named
//     "<name>.<name of the part>". A block with a member record(net, name, values...) chooses the names itself.
//
// An op has
//   name                            constexpr; for messages and tables
//   output(net, name, x)            constexpr; the Value (axis, shape and type), or std::array of Values, that it
//                                   computes from std::array<Value, N> x. Calls net.check(condition, name, message...)
//                                   to report an error
//   traits(x) or traits(net, x)     constexpr, optional; OpTraits (model_graph.hpp)
//   tensors()                       constexpr, optional; a range of the SharedTensors whose gradients it computes
//   tokens(x, k)                    constexpr, optional; if input k holds tokens, they must lie in [0, tokens(x, k));
//                                   0: no limit
//   count_forward(net, x, tally)    constexpr, optional; reports its operations (core/cost.hpp) on net.rows(x[k]) rows.
//   count_backward(net, x, tally)   By default one FLOP per element of each input, in backward of each input that needs
//                                   a gradient (net.needs_gradient(x[k]))
//   forward(call)                   computes the outputs; `call` is an OpCall (op_call.hpp)
//   backward(call)                  writes the gradients of its inputs, unless null, and of its tensors. It must add to
//                                   the gradient of tensor k if call.adds_to_tensor(k), because another op has written
//                                   it; if traits say `adds`, also to that of input k if call.adds_to(k)
//   is_loss                         constexpr, optional: forward computes one loss per row, of type `parameter`, and
//                                   also the gradients of its inputs, unless null; there is no backward. In evaluation
//                                   call.weights and the gradients are null. A third input, if any, holds the weights
//                                   of the rows (Weighted)
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "model_graph.hpp"

namespace algoperf {

namespace detail {

// Whether a part reads tokens, so that it must come first in a model. A block that does sets reads_tokens = true.
template <class Part>
constexpr bool reads_tokens() {
  if constexpr (requires { Part::reads_tokens; })
    return Part::reads_tokens;
  else
    return HasTokens<Part>;
}
// Whether a part may have buffers. A block without the constant has_buffers may.
template <class Part>
constexpr bool may_have_buffers() {
  if constexpr (requires { Part::has_buffers; })
    return Part::has_buffers;
  else
    return !Layer<Part>;
}

template <class Net, class O, std::size_t N>
constexpr OpTraits traits_of(const Net& net, const O& op, const std::array<Value, N>& x) {
  if constexpr (requires { op.traits(net, x); })
    return op.traits(net, x);
  else if constexpr (requires { op.traits(x); })
    return op.traits(x);
  else
    return {};
}

template <class O>
concept IsLoss = requires {
  requires O::is_loss;
};

// An op of N inputs for a recorder of type Net.
template <class O, class Net, std::size_t N>
concept IsOp = requires(const O& op, const Net& net, const std::array<Value, N>& x) {
  { O::name } -> std::convertible_to<const char*>;
  op.output(net, OpName{}, x);
};

}  // namespace detail

}  // namespace algoperf
