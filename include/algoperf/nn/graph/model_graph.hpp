// ModelGraph: a recorded model as plain data: its axes, values, ops, tensors and scopes. A Recorder (recorder.hpp)
// writes it; the planner, the counter of costs and the executor read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "../../core/list.hpp"
#include "../../core/tensor_spec.hpp"
#include "../concept.hpp"
#include "../init.hpp"

namespace algoperf {

// The type of a value's elements. activation: Stored<B>, which may be a 16-bit type; parameter: B::Scalar;
// token: std::int32_t.
enum class ElementType : std::uint8_t { activation, parameter, token };

namespace detail {

constexpr const char* type_name(ElementType type) {
  return type == ElementType::token ? "tokens" : type == ElementType::parameter ? "parameters" : "activations";
}

}  // namespace detail

// Values on an axis have `rows` rows per example of the batch. On a ragged axis, each example has a number of its own,
// which the data set gives (data/fields.hpp); costs are counted as if all examples had `rows`.
struct Axis {
  const char* name = "examples";
  std::size_t rows = 1;
  bool ragged = false;
  // The most rows of an example that the model can process, 0 if it does not limit them, and the option that says so.
  std::size_t most = 0;
  const char* limit = "";
};

// The rows per example of ragged axes for which costs are counted: {{"words", 25}}.
struct AxisLength {
  const char* axis;
  std::size_t rows;
};
using AxisLengths = List<AxisLength>;

// Indexes an element of one of the graph's lists.
using GraphIndex = std::uint32_t;
inline constexpr GraphIndex no_index = 0xFFFFFFFFu;
// The axis with one row per example.
inline constexpr GraphIndex examples_axis = 0;
// The first place of an op that is neither a layer nor a block; these are numbered from 0.
inline constexpr GraphIndex first_op_place = 1u << 16;

// A value of a model: rows x shape. It names a node of the graph and holds no elements, so it is copied freely.
struct Value {
  GraphIndex index = no_index;
  GraphIndex axis = examples_axis;
  Shape shape{};  // of one row
  ElementType type = ElementType::activation;
};

// A parameter tensor that several ops may share, e.g. the table of an embedding that is also the output layer's weight.
struct SharedTensor {
  GraphIndex index = no_index;
};

// The name of a part within its scope: a text, an index, or both, as in "block.0". A layer or block without a name is
// named by its place in the scope, an op by its `name`. The text must outlive the graph, as a literal does; so must the
// names of fields, axes and tensors. Parts in a loop are named by an index: net({"block", i}, part, x).
struct OpName {
  const char* text = "";
  GraphIndex index = no_index;

  constexpr OpName() = default;
  constexpr OpName(const char* t) : text(t) {}
  constexpr OpName(const char* t, std::size_t i) : text(t), index(static_cast<GraphIndex>(i)) {}
  constexpr bool empty() const { return *text == 0 && index == no_index; }
};

// Properties of an op that the planner uses. Bit k of a mask stands for input or output k.
struct OpTraits {
  std::uint64_t reads_inputs = ~std::uint64_t{0};  // the inputs that backward reads
  std::uint64_t reads_outputs = 0;                 // the outputs that backward reads
  // Output 0 may use the memory of this input, and the gradient of this input that of output 0's gradient, also where
  // forward did not work in place.
  GraphIndex in_place = no_index;
  bool view = false;             // output 0 has the elements of input 0; there is nothing to compute
  bool adds = false;             // backward adds to the gradients of inputs on request
  bool passes_gradient = false;  // the gradient of each input equals the gradient of output 0
  LayerMemory memory = {};       // per row of input 0
  // Scratch elements of the parameters' type, per row of the last input and per example. Their contents are undefined
  // when forward or backward begins. OpCall has members of the same names.
  std::size_t last_input_scratch = 0;
  std::size_t example_scratch = 0;
  // Whether the op can decode: each row of its outputs depends only on the same and earlier rows of an example, and
  // forward() handles steps of decoding (decoding_step.hpp). For each row and step, the op then has memory for elements
  // of the activations' type and of the parameters' type.
  bool decodes = false;
  std::size_t kept_of_step = 0, exact_of_step = 0;
};

// Elements [begin, begin + count) of one of the graph's lists.
struct GraphRange {
  GraphIndex begin = 0, count = 0;
};

namespace detail {

constexpr bool same_text(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return *a == *b;
}

}  // namespace detail

struct ModelGraph {
  struct ValueInfo {
    Value value;
    GraphIndex producer = no_index;  // the op that computes it; none for a field of the batch
    bool needs_gradient = false;
    const char* field = "";
    std::size_t tokens = 0;              // of a field of tokens: they lie in [0, tokens); 0 if no op limits them
    GraphIndex indexes_axis = no_index;  // of a field of tokens: they are indices of rows of their example on this axis
    GraphIndex aligned_axis = no_index;  // of a field of tokens: a loss aligns them with rows on this axis (CtcLoss)
    std::size_t blank = 0;               // of these: the token that they may not be
    constexpr bool is_field() const { return producer == no_index; }
  };
  struct Op {
    OpName name;
    GraphIndex scope = 0;
    GraphIndex place = 0;              // unique in its scope; its random numbers depend on it
    GraphRange inputs, outputs, uses;  // of op_inputs, op_outputs and op_tensors
    OpTraits traits;
    bool trains = false;  // has a gradient to compute
    bool loss = false;
    bool fixed = false;  // runs in evaluation mode and is not trained
  };
  struct Tensor {
    const char* name = "";
    GraphIndex scope = 0;
    Kind kind = Kind::weight;
    Shape shape;
    Init init = Init::zeros;
    std::size_t fan_in = 1, fan_out = 1;
    bool output = false, fixed = false;
  };
  struct Scope {
    OpName name;
    GraphIndex parent = no_index;    // none for the root
    GraphIndex place = 0;            // as an op's
    GraphIndex layers = 0, ops = 0;  // the number of layers and blocks, and of ops, in it
  };

  List<Axis> axes;
  List<ValueInfo> values;
  List<Op> ops;
  List<Tensor> tensors;  // shared ones only: a layer keeps its own
  List<Scope> scopes;
  List<GraphIndex> op_inputs, op_outputs;  // values
  List<GraphIndex> op_tensors;             // shared tensors whose gradients an op's backward writes or adds to
  List<GraphIndex> outputs;                // values that stay readable after the forward pass
  std::uint64_t parameters = 0;            // trained
  bool has_buffers = false;
  Init standard_init = Init::standard;  // of Init::standard

  constexpr GraphIndex input(const Op& op, std::size_t k) const { return op_inputs[op.inputs.begin + k]; }
  constexpr GraphIndex output(const Op& op, std::size_t k) const { return op_outputs[op.outputs.begin + k]; }
  constexpr GraphIndex tensor(const Op& op, std::size_t k) const { return op_tensors[op.uses.begin + k]; }
  // Returns the axis of an op's first input, or the examples' if it has no inputs.
  constexpr GraphIndex axis_of(const Op& op) const {
    return op.inputs.count == 0 ? examples_axis : values[input(op, 0)].value.axis;
  }

  // Returns how many ops run before the outputs are complete.
  constexpr std::size_t ops_of_outputs() const {
    std::size_t count = 0;
    for (const GraphIndex output : outputs)
      if (!values[output].is_field() && values[output].producer >= count)
        count = values[output].producer + std::size_t{1};
    return count;
  }
  // Returns the index of a field, or no_index if the model reads none of this name.
  constexpr GraphIndex find_field(const char* name) const {
    for (const ValueInfo& info : values)
      if (info.is_field() && detail::same_text(info.field, name)) return info.value.index;
    return no_index;
  }

  // Returns the index of an axis, or no_index if the model has none of this name.
  constexpr GraphIndex find_axis(const char* name) const {
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (detail::same_text(axes[i].name, name)) return static_cast<GraphIndex>(i);
    return no_index;
  }
  constexpr bool is_ragged() const {
    for (const Axis& axis : axes)
      if (axis.ragged) return true;
    return false;
  }

  // Returns the name of something in a scope, with the names of the enclosing scopes: "decoder.2.attention".
  std::string path(GraphIndex scope, const OpName& name) const;
};

#if ALGOPERF_DEFINES_COMPILED

ALGOPERF_COMPILED ALGOPERF_COLD std::string ModelGraph::path(GraphIndex scope, const OpName& name) const {
  std::string text = scopes[scope].parent == no_index ? "" : path(scopes[scope].parent, scopes[scope].name);
  const auto append = [&text](const std::string& part) { text += (text.empty() ? "" : ".") + part; };
  if (*name.text != 0) append(name.text);
  if (name.index != no_index) append(std::to_string(name.index));
  return text;
}

#endif  // ALGOPERF_DEFINES_COMPILED

}  // namespace algoperf
