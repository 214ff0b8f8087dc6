// What nn/ is about. A Layer is a plain value (sizes in values, structure in types) with hand-written forward and
// backward. Examples are rows: an activation of shape {28, 28, 1} is a row of 784 numbers (rows x columns x channels).
//
//   Input<S>                           the element type it reads over activations of S, if not S (Embedding:
//                                      std::int32_t)
//   Handles                            the tensors it declared
//   output(in)                         constexpr; the shape of one example's output
//   parameters(in)                     constexpr; how many are trained, excluding buffers
//   count_forward(in, batch, tally)    constexpr; tells a tally (core/cost.hpp) its operations on a batch
//   count_backward(in, batch, input_gradient, tally)   the same, with the gradient of the input or without
//   part()                             constexpr, optional; of an embedding or output layer, that it is one
//   memory(in)                         constexpr; LayerMemory: numbers to keep from forward to backward, and scratch
//   declare(layout, name, in)          adds its tensors to the layout as "name.weight" etc. and returns Handles
//   initialize(init, handles, in)      writes first values (nn/init.hpp)
//   forward(call, handles, in, x, y)         y from x
//   backward(call, handles, in, x, y, dy, dx)   writes gradients, and dx unless it is null
//   tokens()                           constexpr, optional, of a layer that reads tokens: they lie in [0, tokens())
//
// x, y, dy and dx are of S = Stored<B>, which may have 16 bits: what is computed is computed in Arithmetic<S>
// (core/half.hpp), which is the parameters' type, too. Matrix products take their weights from call.weight(handle), all
// else from call.value(handle).
// A layer made of layers, with the constant counts_memory = true, holds and releases their memory in these counts, but
// for its own output and the gradient of its input.
// A layer that declares buffers (torch: registered buffers) sets a constant, has_buffers = true; its backward writes
// as their gradients what a step is to take off them.
// Three constants, all optional, say what a layer does to the memory of its neighbours:
//   in_place      y may be x, and dx may be dy; backward must not read x
//   view          in place, and y holds the same numbers as x (Flatten)
//   reads_output  backward reads y, so no later layer overwrites it. If not said: true of a layer in place that is not
//                 a view. Any other layer must not read y in backward: the next layer may have overwritten it.
// x and y in backward hold what forward read and wrote (but for a y that backward may not read).
//
// Loss:   write(backend, batch, classes, logits, labels, weights, losses, d_logits): one unweighted loss per example,
//         and the gradient of sum(weights * losses) / batch; classes = columns of logits. logits and d_logits are
//         activations, weights and losses of their Arithmetic. When a loss is only
//         evaluated, weights and d_logits are null.
//         count(batch, outputs, tally), constexpr: tells a tally (core/cost.hpp) what it does.
//         Labels are classes, std::int32_t, unless the loss has `template <class S> using Label = S`: numbers, as many
//         an example as outputs. classes_of(outputs), constexpr and optional: how many classes so many outputs tell
//         apart.
// Metric: name              constexpr; for tables and logs
//         lower_is_better   constexpr
//         write(backend, batch, classes, logits, labels, scores)   one score per example; the metric is their mean
// Model:  Model (model.hpp), or anything with its members: those of a layer without the shape, which is input(). Its
//         tokens() is what batches are checked against before they reach a layer.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "../backend/concept.hpp"
#include "../core/cost.hpp"
#include "../core/half.hpp"
#include "../core/layout.hpp"
#include "../core/random.hpp"

namespace algoperf {

enum class Mode { train, evaluate };

// What a layer needs, in numbers as activations are stored: `kept` per example from forward to backward, `scratch`
// within one call whatever the batch, and `at_once` per example to do a whole batch at once, of which it gets as much
// as the backend's `scratch` allows; and `exact` per example from forward to backward, as parameters are stored. All
// layers of a model share one scratch.
struct LayerMemory {
  std::size_t kept = 0;
  std::size_t scratch = 0;
  std::size_t at_once = 0;
  std::size_t exact = 0;

  friend constexpr bool operator==(const LayerMemory&, const LayerMemory&) = default;
  // The scratch to have for batches of `capacity` where layers may work in `limit` scalars.
  constexpr std::size_t scratch_within(std::size_t limit, std::size_t capacity) const {
    const std::size_t wished = at_once * capacity, granted = wished < limit ? wished : limit;
    return granted > scratch ? granted : scratch;
  }
};

// What a layer is given besides its activations: where parameters and gradients lie, and its own memory.
template <class B>
struct LayerCall {
  using Scalar = typename B::Scalar;
  using S = Stored<B>;
  const B& backend;
  const Layout& layout;
  const Scalar* values;
  Scalar* gradients;     // null outside backward
  std::size_t batch;     // examples in this pass
  std::size_t capacity;  // examples the memory was planned for
  Mode mode;
  RandomKey key;
  S* kept;                     // memory(in).kept * capacity
  S* scratch;                  // memory(in).scratch_within(backend.scratch, capacity), or more
  Scalar* exact;               // memory(in).exact * capacity
  std::size_t first = 0;       // the place of the first example in the step's batch, of which a worker sees a part
  const S* rounded = nullptr;  // the values as activations are stored, where that differs

  const Scalar* value(TensorHandle handle) const { return values + layout.place_of(handle).offset; }
  Scalar* gradient(TensorHandle handle) const { return gradients + layout.place_of(handle).offset; }
  const S* weight(TensorHandle handle) const {
    if constexpr (std::is_same_v<S, Scalar>)
      return value(handle);
    else
      return rounded + layout.place_of(handle).offset;
  }
};

namespace detail {

template <class L, class S>
struct InputOf {
  using type = S;
};
template <class L, class S>
requires requires { typename L::template Input<S>; }
struct InputOf<L, S> {
  using type = typename L::template Input<S>;
};

template <class L>
concept HasInPlace = requires {
  requires L::in_place;
};

template <class L>
concept HasView = HasInPlace<L> && requires {
  requires L::view;
};

template <class L>
constexpr bool reads_output() {
  if constexpr (requires { L::reads_output; })
    return L::reads_output;
  else
    return HasInPlace<L> && !HasView<L>;
}

template <class L>
concept HasBuffers = requires {
  requires L::has_buffers;
};

template <class L>
concept CountsMemory = requires {
  requires L::counts_memory;
};

template <class L>
concept HasTokens = requires(const L& l) {
  { l.tokens() } -> std::convertible_to<std::size_t>;
};

template <class L>
concept HasPart = requires(const L& l) {
  { l.part() } -> std::same_as<ModelPart>;
};

template <class L>
constexpr ModelPart part_of(const L& layer) {
  if constexpr (HasPart<L>)
    return layer.part();
  else
    return ModelPart::body;
}

template <class L>
consteval bool explain_layer() {
  static_assert(
      requires(const L& l) { l.output(Shape{}); }, "algoperf: a layer needs `constexpr Shape output(Shape in) const`");
  static_assert(
      requires { typename L::Handles; },
      "algoperf: a layer needs a type `Handles`, the tensors it declares (an empty struct if none)");
  static_assert(
      requires(const L& l) { l.parameters(Shape{}); },
      "algoperf: a layer needs `constexpr std::uint64_t parameters(Shape in) const`");
  static_assert(
      requires(const L& l, CostSum& sum) {
        l.count_forward(Shape{}, std::uint64_t{}, sum);
        l.count_backward(Shape{}, std::uint64_t{}, false, sum);
      },
      "algoperf: a layer needs `count_forward(Shape in, std::uint64_t batch, Tally&)` and "
      "`count_backward(Shape in, std::uint64_t batch, bool input_gradient, Tally&)`, which tell what it does");
  static_assert(
      requires(const L& l) { l.memory(Shape{}); },
      "algoperf: a layer needs `constexpr LayerMemory memory(Shape in) const`");
  static_assert(
      requires(const L& l, Layout& layout, const std::string& name) { l.declare(layout, name, Shape{}); },
      "algoperf: a layer needs `Handles declare(Layout&, const std::string& name, Shape in) const`");
  return true;
}

}  // namespace detail

template <class L>
concept Layer = requires(const L& layer, Layout& layout, const std::string& name, Shape in) {
  typename L::Handles;
  { layer.output(in) } -> std::same_as<Shape>;
  { layer.parameters(in) } -> std::same_as<std::uint64_t>;
  { layer.memory(in) } -> std::same_as<LayerMemory>;
  { layer.declare(layout, name, in) } -> std::same_as<typename L::Handles>;
};

namespace detail {

template <class Loss, class S>
struct LossLabelOf {
  using type = std::int32_t;
};
template <class Loss, class S>
requires requires { typename Loss::template Label<S>; }
struct LossLabelOf<Loss, S> {
  using type = typename Loss::template Label<S>;
};

template <class Loss>
constexpr std::size_t classes_of(const Loss&, std::size_t outputs) {
  if constexpr (requires { Loss::classes_of(outputs); })
    return Loss::classes_of(outputs);
  else
    return outputs;
}

}  // namespace detail

// The element type of the labels a loss takes over parameters of S.
template <class Loss, class S>
using LossLabel = typename detail::LossLabelOf<Loss, S>::type;

// The element type a layer reads over activations of S.
template <class L, class S>
using LayerInput = typename detail::InputOf<L, S>::type;

}  // namespace algoperf
