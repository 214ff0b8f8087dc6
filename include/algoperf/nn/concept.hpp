// The concepts of nn/: Layer, Loss, Metric and Model. A Layer is a plain value with hand-written forward and backward
// passes. Its sizes are data members and its structure is its type. Each example is stored as one row: an activation of
// shape {28, 28, 1} (rows x columns x channels) is a row of 784 elements.
//
//   Input<S>                           optional; the element type of its input if activations have element type S.
//                                      Default: S (Embedding: std::int32_t)
//   Handles                            the handles of the tensors it declares
//   output(in)                         constexpr; the shape of one example's output
//   parameters(in)                     constexpr; the number of trained parameters, excluding buffers
//   count_forward(in, batch, tally)    constexpr; reports its operations on a batch to a tally (core/cost.hpp)
//   count_backward(in, batch, input_gradient, tally)   the same for backward, with or without the input's gradient
//   part()                             constexpr, optional; the ModelPart of an embedding or output layer
//   memory(in)                         constexpr; LayerMemory: elements kept from forward to backward, and scratch
//   declare(layout, name, in)          adds its tensors to the layout as "name.weight" etc. and returns Handles
//   initialize(init, handles, in)      optional; writes the initial values (nn/init.hpp)
//   forward(call, handles, in, x, y)   computes y from x
//   backward(call, handles, in, x, y, dy, dx)   writes the gradients of its tensors, and dx unless dx is null
//   tokens()                           constexpr, optional; the vocabulary size of a layer that reads tokens, which
//                                      lie in [0, tokens())
//
// x, y, dy and dx have element type S = Stored<B>, which may be a 16-bit type. Layers compute in Arithmetic<S>
// (core/half.hpp), which is also the parameters' type. Matrix products read weights through call.weight(handle);
// everything else reads parameters through call.value(handle).
// A layer that declares buffers (torch: registered buffers) sets the constant has_buffers = true. Its backward writes,
// as the gradient of each buffer, the amount that a step subtracts from the buffer.
// Three optional constants describe how a layer uses the memory of its input and output:
//   in_place      y may be the same array as x, and dx the same array as dy; backward must not read x
//   view          in place, and y holds the same values as x (Flatten)
//   reads_output  backward reads y, so no later layer overwrites it. Default: true for an in-place layer that is not a
//                 view, else false. If false, backward must not read y: the next layer may have overwritten it.
// In backward, x holds the values that forward read and y the values that forward wrote, each only if backward may
// read it.
//
// Loss:   write(backend, batch, classes, logits, labels, weights, losses, d_logits) writes one unweighted loss per
//         row, and the gradient of sum(weights * losses) / batch. `classes` is the number of columns of logits.
//         logits and d_logits are activations; weights and losses are of the corresponding Arithmetic type. For
//         evaluation only, weights and d_logits are null.
//         count(batch, outputs, tally), constexpr, reports its operations to a tally (core/cost.hpp).
//         Labels are class indices, std::int32_t, unless the loss has `template <class S> using Label = S`. Then a
//         label is real-valued, with one value per output. classes_of(outputs), constexpr and optional, is the number
//         of classes that a model with this number of outputs distinguishes.
//         A loss may instead record itself (graph/objective.hpp).
// Metric: name              constexpr; for tables and logs
//         lower_is_better   constexpr
//         and either a mean over rows:
//           write(backend, batch, classes, logits, labels, scores)   one score per row
//           value(mean)       optional; computes the metric from the mean of the scores. Default: the mean
//         or an accumulator, for metrics that are not means:
//           State             starts empty
//           add(state, rows)  adds the rows of a batch: EvaluatedRows (metrics/evaluated_rows.hpp), in host memory.
//                             Metrics that decode sequences read which rows belong to an example
//           decodes           constexpr, optional: labels need not have a row per row of the outputs
//           fields()          optional: a range of the names of further fields that it reads, of real values of type
//                             `parameter`, which the model or the loss declares
//           value(state)      the metric of all rows added
//         or a metric that generates, which chooses itself what the model reads:
//           generates         constexpr, true
//           score(predict, data)   returns the metric of `data`. predict(inputs) returns the model's outputs for a data
//                             set, as TrainingLoop::predict; predict.beam_search(sources, options) is beam_search()
//                             with the model. Weights of rows are ignored. Not called if the loss is not finite; the
//                             metric is then NaN. Ranks share each of these calls, so all must make the same calls
//                             with the same inputs
// Model:  Model (model.hpp), or any model function (graph/op.hpp) of the field "input" that has its members Input<S>,
//         input() and output(). Tokens of a batch are checked before they reach a layer.
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

// The memory that a layer needs.
//   kept      elements of the activations' type per example, kept from forward to backward
//   scratch   minimum number of elements of the activations' type that one call needs, for any batch size
//   at_once   scratch elements per example that suffice to process a whole batch at once; the planner provides
//             at_once elements per example, up to a total of the backend's `scratch`
//   exact     elements of the parameters' type per example, kept from forward to backward
struct LayerMemory {
  std::size_t kept = 0;
  std::size_t scratch = 0;
  std::size_t at_once = 0;
  std::size_t exact = 0;

  friend constexpr bool operator==(const LayerMemory&, const LayerMemory&) = default;
  // Returns the scratch size for batches of up to `capacity` examples: enough for at_once up to `limit` elements, and
  // at least `scratch`.
  constexpr std::size_t scratch_within(std::size_t limit, std::size_t capacity) const {
    const std::size_t wished = element_count(at_once, capacity), granted = wished < limit ? wished : limit;
    return granted > scratch ? granted : scratch;
  }
};

// The arguments of a layer's forward and backward besides the activations: parameters, gradients, the layer's memory.
template <class B>
struct LayerCall {
  using Scalar = typename B::Scalar;
  using S = Stored<B>;
  const B& backend;
  const Layout& layout;
  const Scalar* values = nullptr;
  Scalar* gradients = nullptr;  // may be null if backward is not called
  std::size_t batch = 0;        // examples in this pass
  std::size_t capacity = 0;     // examples for which memory is allocated
  Mode mode = Mode::train;
  // Of this pass and layer, the same for all passes in mode `evaluate`. Fold in `first` + row, so that draws do not
  // depend on the number of workers.
  RandomKey key = {};
  S* kept = nullptr;           // memory(in).kept * capacity
  S* scratch = nullptr;        // memory(in).scratch_within(backend.scratch, capacity), or more
  Scalar* exact = nullptr;     // memory(in).exact * capacity
  std::size_t first = 0;       // index of the pass's first example within the step's batch (workers split a batch)
  const S* rounded = nullptr;  // the values converted to S, if S is not Scalar

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
      "`count_backward(Shape in, std::uint64_t batch, bool input_gradient, Tally&)`, which report its operations");
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
constexpr std::size_t classes_of(const Loss& loss, std::size_t outputs) {
  if constexpr (requires { loss.classes_of(outputs); })
    return loss.classes_of(outputs);
  else
    return outputs;
}

}  // namespace detail

// The element type of the labels that a loss takes if parameters have element type S.
template <class Loss, class S>
using LossLabel = typename detail::LossLabelOf<Loss, S>::type;

// The element type of a layer's input if activations have element type S.
template <class L, class S>
using LayerInput = typename detail::InputOf<L, S>::type;

}  // namespace algoperf
