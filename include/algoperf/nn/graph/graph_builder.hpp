// GraphBuilder: the part of a Recorder that does not depend on its sink: fields, axes, scopes, and the ModelGraph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "../../core/describe_shape.hpp"
#include "../../core/error.hpp"
#include "model_graph.hpp"

namespace algoperf {

namespace detail {

inline std::string message_text(const Shape& shape) { return describe(shape); }
template <class T>
const T& message_text(const T& part) {
  return part;
}

}  // namespace detail

class GraphBuilder {
 public:
  // `examples` is the size of the batch whose cost is counted, and `lengths` the rows per example of its ragged axes.
  constexpr GraphBuilder(std::size_t examples, AxisLengths lengths)
      : examples_(examples), lengths_(std::move(lengths)) {
    graph_.axes.push_back({});
    graph_.scopes.push_back({});
  }

  // Reports that a model is not well formed unless the condition holds: throws Error with the path of the part in front
  // of the message. In constant evaluation the compiler stops here instead and names the caller.
  // clang evaluates calls of it only if its definition precedes them.
  template <class... Parts>
  constexpr void check(bool condition, OpName part, const Parts&... message) const {
    if (!condition) model_is_not_well_formed(part, detail::message_text(message)...);
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
  constexpr GraphIndex axis(const char* name, std::size_t rows) { return find_or_add_axis({name, rows, false}); }
  // Returns an axis on which each example of the data has a number of rows of its own, which may be 0. Costs are
  // counted for the number that AxisLengths gives (graph_cost.hpp).
  constexpr GraphIndex ragged_axis(const char* name) {
    std::size_t rows = 1;
    for (const AxisLength& length : lengths_)
      if (detail::same_text(length.axis, name)) rows = length.rows;
    return find_or_add_axis({name, rows, true});
  }
  // Returns a field of one token per row of `axis`: the index of a row of the same example on the axis `of`, from 0.
  ALGOPERF_COLD constexpr Value row_indices(const char* name, GraphIndex axis, GraphIndex of) {
    const Value value = tokens(name, {1}, axis);
    GraphIndex& known = graph_.values[value.index].indexes_axis;
    check(known == no_index || known == of, name, "the model reads this field as rows of two axes, '",
          graph_.axes[known == no_index ? of : known].name, "' and '", graph_.axes[of].name, "'");
    known = of;
    return value;
  }
  // Limits the rows of an example on a ragged axis to `most`, which `option` sets. Data with more rows is refused.
  ALGOPERF_COLD constexpr void limit_rows(GraphIndex axis, std::size_t most, const char* option) {
    Axis& of = graph_.axes[axis];
    check(of.ragged && most > 0, of.name, option, " limits the rows of this axis to ", most,
          ", expected a ragged axis and at least 1");
    if (of.most > 0 && of.most <= most) return;
    of.most = most;
    of.limit = option;
  }
  // Requires of a field of labels that an example has a row on the axis `of` for each label, and one more for each that
  // equals the label before it, and that none is `blank`. Other data is refused.
  ALGOPERF_COLD constexpr void align(Value labels, GraphIndex of, std::size_t blank) {
    ModelGraph::ValueInfo& info = graph_.values[labels.index];
    check(info.is_field() && labels.type == ElementType::token && labels.shape.size() == 1, info.field,
          "labels are aligned with rows, expected a field of one token per row, got shape ", labels.shape);
    check(info.aligned_axis == no_index || (info.aligned_axis == of && info.blank == blank), info.field,
          "the model aligns these labels with two axes, or for two blanks");
    info.aligned_axis = of;
    info.blank = blank;
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
    constexpr Scope(GraphBuilder& net, OpName name) : net_(net), outer_(net.scope_) {
      const GraphIndex place = net.graph_.scopes[outer_].layers++;
      net.graph_.scopes.push_back({name.empty() ? OpName{"", place} : name, outer_, place});
      net.scope_ = static_cast<GraphIndex>(net.graph_.scopes.size() - 1);
    }
    constexpr ~Scope() { net_.scope_ = outer_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    GraphBuilder& net_;
    GraphIndex outer_;
  };
  // While it lives, parts are not trained and run in evaluation mode, and their outputs need no gradient.
  class [[nodiscard]] Fixed {
   public:
    constexpr explicit Fixed(GraphBuilder& net) : net_(net) { ++net.fixed_; }
    constexpr ~Fixed() { --net_.fixed_; }
    Fixed(const Fixed&) = delete;
    Fixed& operator=(const Fixed&) = delete;

   private:
    GraphBuilder& net_;
  };

  constexpr const ModelGraph& graph() const { return graph_; }
  // Return the numbers of examples, and of rows of a value, in the batch whose cost is counted.
  constexpr std::uint64_t examples() const { return examples_; }
  constexpr std::uint64_t rows(const Value& x) const { return examples_ * rows_per_example(x); }
  constexpr std::size_t rows_per_example(const Value& x) const { return graph_.axes[x.axis].rows; }
  constexpr bool is_ragged(const Value& x) const { return graph_.axes[x.axis].ragged; }
  constexpr bool needs_gradient(const Value& x) const { return graph_.values[x.index].needs_gradient; }
  constexpr GraphIndex scope() const { return scope_; }
  constexpr bool fixed() const { return fixed_ > 0; }
  constexpr const char* axis_name(const Value& x) const { return graph_.axes[x.axis].name; }

 protected:
  template <class... Parts>
  [[noreturn]] ALGOPERF_COLD void model_is_not_well_formed(OpName part, const Parts&... message) const {
    const std::string path = graph_.path(scope_, part);
    fail(path, path.empty() ? "" : ": ", message...);
  }

  ALGOPERF_COLD constexpr GraphIndex find_or_add_axis(const Axis& axis) {
    const GraphIndex found = graph_.find_axis(axis.name);
    if (found == no_index) {
      graph_.axes.push_back(axis);
      return static_cast<GraphIndex>(graph_.axes.size() - 1);
    }
    const Axis& known = graph_.axes[found];
    check(known.ragged == axis.ragged, axis.name, "the model declares this axis both fixed and ragged");
    check(known.rows == axis.rows, axis.name, "the model gives this axis ", known.rows, " and ", axis.rows,
          " rows per example");
    return found;
  }
  ALGOPERF_COLD constexpr Value add_value(Value value, GraphIndex producer, bool needs_gradient) {
    value.index = static_cast<GraphIndex>(graph_.values.size());
    graph_.values.push_back({value, producer, needs_gradient});
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

  // Reports traits by which the planner would give output 0, y, memory of another size.
  ALGOPERF_COLD constexpr void check_traits(OpName name, const OpTraits& traits, const Value* x, std::size_t inputs,
                                            const Value& y) const {
    const auto alike = [&](const Value& value) {
      if (value.axis != y.axis && (is_ragged(value) || is_ragged(y))) return false;
      return value.type == y.type &&
             rows_per_example(value) * value.shape.size() == rows_per_example(y) * y.shape.size();
    };
    check(traits.in_place == no_index || (traits.in_place < inputs && alike(x[traits.in_place])), name,
          "its trait in_place names input ", traits.in_place, ", expected one with the size and type of output 0");
    for (std::size_t k = 0; traits.passes_gradient && k < inputs; ++k)
      check(alike(x[k]), name, "its trait passes_gradient requires that input ", k,
            " has the size and type of output 0");
  }

  ModelGraph graph_;
  GraphIndex scope_ = 0;
  std::size_t fixed_ = 0;  // the number of Fixed objects that live

 private:
  std::size_t examples_;
  AxisLengths lengths_;
  bool field_gradients_ = false;
};

}  // namespace algoperf
