// Recorder: records a model function as a ModelGraph, at run time or in constant evaluation. It passes each part to a
// sink, which may count costs (graph_cost.hpp) or keep the parts to run them (recorded_model.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "../../core/describe_shape.hpp"
#include "../../core/error.hpp"
#include "op.hpp"
#include "sink.hpp"

namespace algoperf {

namespace detail {

inline std::string message_text(const Shape& shape) { return describe(shape); }
template <class T>
const T& message_text(const T& part) {
  return part;
}

}  // namespace detail

template <class Sink = detail::NoSink>
class Recorder;

namespace detail {

// Explains what a part of a model lacks.
template <class Part, class Net = Recorder<NoSink>, std::size_t inputs = 1>
consteval bool explain_model_part() {
  if constexpr (requires(const Part& part) { part.output(Shape{}); }) {
    return explain_layer<Part>();
  } else {
    constexpr bool block = []<std::size_t... k>(std::index_sequence<k...>) {
      return requires(const Part& part, Net& net, const Value(&x)[inputs]) { part(net, x[k]...); }
      || requires(const Part& part, Net& net, const Value(&x)[inputs]) { part.record(net, OpName{}, x[k]...); };
    }
    (std::make_index_sequence<inputs>{});
    static_assert(block || IsOp<Part, Net, inputs>,
                  "algoperf: a part of a model must be a layer, e.g. Dense{}, an op, or a block, which is a function "
                  "object of (net, values...) with as many values as are passed to it");
    return true;
  }
}

}  // namespace detail

template <class Sink>
class Recorder {
 public:
  // `examples` is the size of the batch whose cost is counted.
  constexpr explicit Recorder(Sink sink = {}, std::size_t examples = 1) : sink_(std::move(sink)), examples_(examples) {
    graph_.axes.push_back({});
    graph_.scopes.push_back({});
  }

  // Records part of the model (op.hpp) and returns its output.
  template <class Part, class... Values>
  requires(std::is_same_v<Values, Value>&&...) constexpr auto operator()(OpName name, const Part& part, Values... x) {
    if constexpr (requires(Recorder & net) { part.record(net, name, x...); }) {
      return part.record(*this, name, x...);
    } else if constexpr (detail::IsOp<Part, Recorder, sizeof...(Values)>) {
      return op(name, part, std::array<Value, sizeof...(Values)>{x...});
    } else if constexpr (requires(Recorder & net) { part(net, x...); }) {
      const Scope scope(*this, name);
      return part(*this, x...);
    } else {
      static_assert(detail::explain_model_part<Part, Recorder, sizeof...(Values)>());
      static_assert(sizeof...(Values) == 1, "algoperf: a layer has one input");
      return layer(name, part, x...);
    }
  }
  template <class Part, class... Values>
  requires(!std::is_convertible_v<Part, OpName> && (std::is_same_v<Values, Value> && ...)) constexpr auto operator()(
      const Part& part, Values... x) {
    return (*this)(OpName{}, part, x...);
  }

  // Returns the field `name` of the batch, with `shape` per row of an axis. The same name gives the same value.
  ALGOPERF_COLD constexpr Value field(const char* name, Shape shape, GraphIndex axis = examples_axis,
                                      ElementType type = ElementType::activation) {
    if (const GraphIndex index = graph_.find_field(name); index != no_index) {
      const Value& known = graph_.values[index].value;
      check(known.shape == shape && known.axis == axis && known.type == type, name,
            "the model reads this field with two shapes, axes or types: ", known.shape, " on '", axis_name(known),
            "' as ", detail::type_name(known.type), ", and ", shape, " on '", graph_.axes[axis].name, "' as ",
            detail::type_name(type));
      return known;
    }
    const Value value =
        add_value({no_index, axis, shape, type}, no_index, field_gradients_ && type == ElementType::activation);
    graph_.values[value.index].field = name;
    return value;
  }
  constexpr Value tokens(const char* name, Shape shape = {1}, GraphIndex axis = examples_axis) {
    return field(name, shape, axis, ElementType::token);
  }

  // Returns an axis with `rows` rows per example. The same name gives the same axis.
  ALGOPERF_COLD constexpr GraphIndex axis(const char* name, std::size_t rows) {
    for (std::size_t i = 0; i < graph_.axes.size(); ++i)
      if (detail::same_text(graph_.axes[i].name, name)) {
        check(graph_.axes[i].rows == rows, name, "the model gives this axis ", graph_.axes[i].rows, " and ", rows,
              " rows per example");
        return static_cast<GraphIndex>(i);
      }
    graph_.axes.push_back({name, rows});
    return static_cast<GraphIndex>(graph_.axes.size() - 1);
  }

  // Declares a tensor for ops to share.
  ALGOPERF_COLD constexpr SharedTensor tensor(const char* name, Kind kind, Shape shape, Init init,
                                              std::size_t fan_in = 1, std::size_t fan_out = 1, bool output = false) {
    graph_.tensors.push_back({name, scope_, kind, shape, init, fan_in, fan_out, output, fixed_ > 0});
    if (fixed_ == 0) graph_.parameters += shape.size();
    const auto index = static_cast<GraphIndex>(graph_.tensors.size() - 1);
    sink_.tensor(*this, index);
    return {index};
  }

  // Returns x with another shape of equal size. Throws Error otherwise.
  constexpr Value reshape(Value x, Shape shape) {
    check(shape.size() == x.shape.size(), "reshape", "a row has shape ", x.shape, ", expected as many elements as ",
          shape);
    return view("reshape", x, x.axis, shape);
  }
  // Makes each entry of the rows' first extent a row on the axis `name`: {time, channels} becomes {channels}.
  constexpr Value rows_of(const char* name, Value x) {
    check(x.axis == examples_axis && x.shape.rank > 0, "rows_of", "expected a value of rank at least 1 on the axis '",
          graph_.axes[examples_axis].name, "', got shape ", x.shape, " on '", graph_.axes[x.axis].name, "'");
    Shape rest;
    for (std::size_t i = 1; i < x.shape.rank; ++i) rest.extents[rest.rank++] = x.shape[i];
    return view("rows_of", x, axis(name, x.shape[0]), rest.rank == 0 ? Shape{1} : rest);
  }
  // Makes the rows of an example one row: {channels} becomes {rows, channels}, and {r, q, c} becomes {rows, r q c}.
  constexpr Value examples_of(Value x) {
    return view("examples_of", x, examples_axis, Shape{graph_.axes[x.axis].rows, x.shape.size()});
  }

  // Makes losses differentiable with respect to the fields of activations that are declared afterwards.
  constexpr void require_field_gradients() { field_gradients_ = true; }
  // Sets the meaning of Init::standard for all layers.
  constexpr void set_standard_init(Init init) { graph_.standard_init = init; }
  // Keeps the elements of a value after the forward pass, for metrics and predictions.
  constexpr void keep(Value x) { graph_.outputs.push_back(x.index); }

  // During its lifetime, names of parts begin with "<name>.".
  class [[nodiscard]] Scope {
   public:
    constexpr Scope(Recorder& net, OpName name) : net_(net), outer_(net.scope_) {
      const GraphIndex place = net.graph_.scopes[outer_].layers++;
      net.graph_.scopes.push_back({name.empty() ? OpName{"", place} : name, outer_, place});
      net.scope_ = static_cast<GraphIndex>(net.graph_.scopes.size() - 1);
    }
    constexpr ~Scope() { net_.scope_ = outer_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Recorder& net_;
    GraphIndex outer_;
  };
  // While it lives, parts are not trained and run in evaluation mode, and their outputs need no gradient.
  class [[nodiscard]] Fixed {
   public:
    constexpr explicit Fixed(Recorder& net) : net_(net) { ++net.fixed_; }
    constexpr ~Fixed() { --net_.fixed_; }
    Fixed(const Fixed&) = delete;
    Fixed& operator=(const Fixed&) = delete;

   private:
    Recorder& net_;
  };

  // Reports that a model is not well formed unless the condition holds: throws Error with the path of the part in front
  // of the message. In constant evaluation the compiler stops here instead and names the caller.
  template <class... Parts>
  constexpr void check(bool condition, OpName part, const Parts&... message) const {
    if (!condition) model_is_not_well_formed(part, detail::message_text(message)...);
  }

  constexpr const ModelGraph& graph() const { return graph_; }
  constexpr const Sink& sink() const { return sink_; }
  constexpr Sink& sink() { return sink_; }
  // Returns the number of rows of a value in the batch whose cost is counted.
  constexpr std::uint64_t rows(const Value& x) const { return examples_ * rows_per_example(x); }
  constexpr std::size_t rows_per_example(const Value& x) const { return graph_.axes[x.axis].rows; }
  constexpr bool needs_gradient(const Value& x) const { return graph_.values[x.index].needs_gradient; }
  constexpr GraphIndex scope() const { return scope_; }
  constexpr bool fixed() const { return fixed_ > 0; }
  constexpr const char* axis_name(const Value& x) const { return graph_.axes[x.axis].name; }

 private:
  template <class... Parts>
  [[noreturn]] ALGOPERF_COLD void model_is_not_well_formed(OpName part, const Parts&... message) const {
    const std::string path = graph_.path(scope_, part);
    fail(path, path.empty() ? "" : ": ", message...);
  }

  ALGOPERF_COLD constexpr Value add_value(Value value, GraphIndex producer, bool needs_gradient) {
    value.index = static_cast<GraphIndex>(graph_.values.size());
    graph_.values.push_back({value, producer, needs_gradient, "", 0});
    return value;
  }
  // Appends an op with its inputs. Its outputs, `trains` and the traits follow.
  ALGOPERF_COLD constexpr ModelGraph::Op& add_op(OpName name, GraphIndex place, const Value* x, std::size_t inputs) {
    ModelGraph::Op op;
    op.name = name;
    op.scope = scope_;
    op.place = place;
    op.fixed = fixed_ > 0;
    op.inputs = {static_cast<GraphIndex>(graph_.op_inputs.size()), static_cast<GraphIndex>(inputs)};
    op.outputs.begin = static_cast<GraphIndex>(graph_.op_outputs.size());
    op.uses.begin = static_cast<GraphIndex>(graph_.op_tensors.size());
    for (std::size_t k = 0; k < inputs; ++k) graph_.op_inputs.push_back(x[k].index);
    graph_.ops.push_back(op);
    return graph_.ops.back();
  }
  ALGOPERF_COLD constexpr Value add_output(Value y, bool needs_gradient) {
    y = add_value(y, static_cast<GraphIndex>(graph_.ops.size() - 1), needs_gradient && y.type != ElementType::token);
    graph_.op_outputs.push_back(y.index);
    ++graph_.ops.back().outputs.count;
    return y;
  }
  constexpr bool any_needs_gradient(const Value* x, std::size_t inputs) const {
    bool any = false;
    for (std::size_t k = 0; k < inputs; ++k) any = any || needs_gradient(x[k]);
    return any;
  }
  constexpr GraphIndex last_op() const { return static_cast<GraphIndex>(graph_.ops.size() - 1); }
  // Limits the tokens of the field that x is, or that x is a view of.
  constexpr void limit_tokens(const Value& x, std::size_t tokens) {
    GraphIndex field = x.index;
    while (!graph_.values[field].is_field() && graph_.ops[graph_.values[field].producer].traits.view)
      field = graph_.input(graph_.ops[graph_.values[field].producer], 0);
    std::size_t& limit = graph_.values[field].tokens;
    if (tokens > 0 && (limit == 0 || tokens < limit)) limit = tokens;
  }

  ALGOPERF_COLD constexpr Value view(const char* name, Value x, GraphIndex axis, Shape shape) {
    ModelGraph::Op& op = add_op(name, 0, &x, 1);
    op.traits.reads_inputs = 0;
    op.traits.in_place = 0;
    op.traits.view = true;
    op.trains = fixed_ == 0 && needs_gradient(x);
    const Value y = add_output({no_index, axis, shape, x.type}, op.trains);
    sink_.view(*this, last_op());
    return y;
  }

  // Reports traits by which the planner would give an output memory of another size.
  template <class Y>
  ALGOPERF_COLD constexpr void check_traits(OpName name, const OpTraits& traits, const Value* x, std::size_t inputs,
                                            const Y& outputs) const {
    const Value* y = nullptr;
    if constexpr (std::is_same_v<Y, Value>)
      y = &outputs;
    else
      y = outputs.data();
    const auto alike = [&](std::size_t k) {
      return x[k].type == y->type &&
             rows_per_example(x[k]) * x[k].shape.size() == rows_per_example(*y) * y->shape.size();
    };
    check(traits.in_place == no_index || (traits.in_place < inputs && alike(traits.in_place)), name,
          "its trait in_place names input ", traits.in_place, ", expected one with the size and type of output 0");
    for (std::size_t k = 0; traits.passes_gradient && k < inputs; ++k)
      check(alike(k), name, "its trait passes_gradient requires that input ", k, " has the size and type of output 0");
  }

  template <class L>
  ALGOPERF_COLD constexpr Value layer(OpName name, const L& layer, Value x) {
    if constexpr (detail::HasTokens<L>) {
      check(x.type == ElementType::token, name, "expected tokens, got activations of shape ", x.shape);
      limit_tokens(x, layer.tokens());
    } else {
      check(x.type == ElementType::activation, name, "expected activations, got tokens or losses of shape ", x.shape);
    }
    const GraphIndex place = graph_.scopes[scope_].layers++;
    if (name.empty()) name = {"", place};
    sink_.declare(*this, name, layer, x);
    const std::uint64_t own = layer.parameters(x.shape);
    if (fixed_ == 0) graph_.parameters += own;
    ModelGraph::Op& op = add_op(name, place, &x, 1);
    op.traits.reads_inputs = detail::HasInPlace<L> ? 0 : 1;
    op.traits.reads_outputs = detail::reads_output<L>() ? 1 : 0;
    op.traits.in_place = detail::HasInPlace<L> ? 0 : no_index;
    op.traits.view = detail::HasView<L>;
    op.traits.memory = layer.memory(x.shape);
    op.trains = fixed_ == 0 && (own > 0 || needs_gradient(x));
    if constexpr (detail::HasBuffers<L>) graph_.has_buffers = graph_.has_buffers || fixed_ == 0;
    const bool trains = op.trains;
    const Shape out = layer.output(x.shape);
    check(!detail::HasInPlace<L> || out.size() == x.shape.size(), name, "a layer in place has outputs of shape ", out,
          " for inputs of shape ", x.shape, ", expected as many elements");
    const Value y = add_output({no_index, x.axis, out, ElementType::activation}, trains);
    sink_.layer(*this, last_op(), layer, x);
    return y;
  }

  template <class O, std::size_t N>
  ALGOPERF_COLD constexpr auto op(OpName name, const O& part, const std::array<Value, N>& x) {
    static_assert(N <= 64, "algoperf: an op has at most 64 inputs");
    if (name.empty()) name = O::name;
    auto y = part.output(*this, name, x);
    if constexpr (requires { part.tokens(x, std::size_t{}); })
      for (std::size_t k = 0; k < N; ++k) limit_tokens(x[k], part.tokens(x, k));
    ModelGraph::Op& op = add_op(name, first_op_place + graph_.scopes[scope_].ops++, x.data(), N);
    op.traits = detail::traits_of(*this, part, x);
    check_traits(name, op.traits, x.data(), N, y);
    op.loss = detail::IsLoss<O>;
    bool trains = any_needs_gradient(x.data(), N);
    if constexpr (requires { part.tensors(); })
      for (const SharedTensor t : part.tensors()) {
        graph_.op_tensors.push_back(t.index);
        ++op.uses.count;
        trains = trains || !graph_.tensors[t.index].fixed;
      }
    op.trains = trains = trains && fixed_ == 0;
    if constexpr (std::is_same_v<decltype(y), Value>)
      y = add_output(y, trains);
    else
      for (Value& output : y) output = add_output(output, trains);
    sink_.op(*this, last_op(), part, x);
    return y;
  }

  Sink sink_;
  std::size_t examples_;
  ModelGraph graph_;
  GraphIndex scope_ = 0;
  std::size_t fixed_ = 0;  // the number of Fixed objects that live
  bool field_gradients_ = false;
};

}  // namespace algoperf
