// Recorder: records a model function as a ModelGraph, at run time or in constant evaluation. It passes each part to a
// sink, which may count costs (graph_cost.hpp) or keep the parts to run them (recorded_model.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "graph_builder.hpp"
#include "op.hpp"
#include "sink.hpp"

namespace algoperf {

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
class Recorder : public GraphBuilder {
 public:
  // `examples` is the size of the batch whose cost is counted, and `lengths` the rows per example of its ragged axes.
  constexpr explicit Recorder(Sink sink = {}, std::size_t examples = 1, AxisLengths lengths = {})
      : GraphBuilder(examples, std::move(lengths)), sink_(std::move(sink)) {}

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
    check(!graph_.axes[x.axis].ragged, "examples_of", "examples have different numbers of rows on the axis '",
          axis_name(x), "'; PoolRows reduces them to one row");
    return view("examples_of", x, examples_axis, Shape{graph_.axes[x.axis].rows, x.shape.size()});
  }

  constexpr const Sink& sink() const { return sink_; }
  constexpr Sink& sink() { return sink_; }

 private:
  ALGOPERF_COLD constexpr Value view(const char* name, Value x, GraphIndex axis, Shape shape) {
    ModelGraph::Op& op = add_op(name, 0, &x, 1);
    op.traits.reads_inputs = 0;
    op.traits.in_place = 0;
    op.traits.view = true;
    if (axis == x.axis) op.traits.decodes = true;
    op.trains = fixed_ == 0 && needs_gradient(x);
    const Value y = add_output({no_index, axis, shape, x.type}, op.trains);
    sink_.view(*this, last_op());
    return y;
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
    op.traits.decodes = true;
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
    op.loss = detail::IsLoss<O>;
    bool trains = any_needs_gradient(x.data(), N);
    if constexpr (requires { part.tensors(); })
      for (const SharedTensor t : part.tensors()) {
        graph_.op_tensors.push_back(t.index);
        ++op.uses.count;
        trains = trains || !graph_.tensors[t.index].fixed;
      }
    op.trains = trains = trains && fixed_ == 0;
    if constexpr (std::is_same_v<decltype(y), Value>) {
      check_traits(name, op.traits, x.data(), N, y);
      y = add_output(y, trains);
    } else {
      check_traits(name, op.traits, x.data(), N, y[0]);
      for (Value& output : y) output = add_output(output, trains);
    }
    sink_.op(*this, last_op(), part, x);
    return y;
  }

  Sink sink_;
};

}  // namespace algoperf
