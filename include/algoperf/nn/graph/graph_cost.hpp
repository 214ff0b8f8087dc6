// The cost of a model function, in constant evaluation if the model is a constant.
//   parameters_of(model)            the number of trained parameters
//   model_cost(model)               parameters, FLOPs and kept activations of one example
//   count_step(model, n, tally)     reports the operations and the memory of a step on n examples
//   least_bytes(model, sizes)       the memory that a training step needs at least
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "../ops/given_gradient.hpp"
#include "planner.hpp"
#include "recorder.hpp"

namespace algoperf {

namespace detail {

// A sink that keeps the operations of each part, forward and backward, and the parameters that it declares.
class OperationSink : public NoSink {
 public:
  struct Part {
    List<Operation> forward, backward;
    std::uint64_t parameters = 0;
    ModelPart part = ModelPart::body;
  };

  template <class Net, class L>
  constexpr void layer(const Net& net, GraphIndex op, const L& layer, const Value& x) {
    parts_.push_back({});
    Adder forward{parts_.back().forward}, backward{parts_.back().backward};
    layer.count_forward(x.shape, net.rows(x), forward);
    if (!net.graph().ops[op].trains) return;
    layer.count_backward(x.shape, net.rows(x), net.needs_gradient(x), backward);
    parts_.back().parameters = layer.parameters(x.shape);
    parts_.back().part = part_of(layer);
  }
  template <class Net, class O, std::size_t N>
  constexpr void op(const Net& net, GraphIndex op, const O& part, const std::array<Value, N>& x) {
    parts_.push_back({});
    Adder forward{parts_.back().forward}, backward{parts_.back().backward};
    if constexpr (requires { part.count_forward(net, x, forward); })
      part.count_forward(net, x, forward);
    else
      forward.operation(one_flop_per_element(net, x, false));
    if (!net.graph().ops[op].trains || IsLoss<O>) return;
    if constexpr (requires { part.count_backward(net, x, backward); })
      part.count_backward(net, x, backward);
    else
      backward.operation(one_flop_per_element(net, x, true));
  }
  template <class Net>
  constexpr void view(const Net&, GraphIndex) {
    parts_.push_back({});
  }
  constexpr const Part& part(GraphIndex op) const { return parts_[op]; }

 private:
  // The tally that a part reports to. The planner assigns memory, so what a part says of it is ignored.
  struct Adder {
    List<Operation>& operations;
    constexpr void operation(const Operation& o) { operations.push_back(o); }
    constexpr void hold(std::uint64_t) const {}
    constexpr void release(std::uint64_t) const {}
    constexpr void gradient(std::uint64_t, ModelPart) const {}
    constexpr void phase(Phase) const {}
  };
  template <class Net, std::size_t N>
  static constexpr Operation one_flop_per_element(const Net& net, const std::array<Value, N>& x, bool backward) {
    std::uint64_t n = 0;
    for (const Value& value : x)
      if (!backward || net.needs_gradient(value)) n += net.rows(value) * value.shape.size();
    return {"op", n, n, n};
  }

  List<Part> parts_;
};

// Returns the number of elements of a plan's buffer, 0 for scratch memory.
constexpr std::uint64_t elements_in(const ModelGraph& graph, const PlanBuffer& buffer, std::uint64_t examples) {
  return buffer.scratch ? 0 : buffer.elements.kept * graph.axes[buffer.axis].rows * examples;
}

// Reports the steps of a plan to a tally, in order, with the buffers that they take and give back. Scratch memory does
// not count.
template <class Tally>
constexpr void count_plan(const ModelGraph& graph, const OperationSink& sink, const MemoryPlan& plan,
                          std::uint64_t examples, Tally& tally) {
  List<std::uint64_t> taken(plan.steps.size(), 0), given_back(plan.steps.size(), 0);
  for (const PlanBuffer& buffer : plan.buffers) {
    if (!buffer.used()) continue;
    taken[buffer.first] += elements_in(graph, buffer, examples);
    given_back[buffer.last] += elements_in(graph, buffer, examples);
  }
  List<GraphIndex> written(graph.tensors.size(), 0);
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const PlanStep& step = plan.steps[i];
    tally.hold(taken[i]);
    if (step.op == no_index) {
      const Value& value = graph.values[step.value].value;
      const std::uint64_t n = examples * graph.axes[value.axis].rows * value.shape.size();
      tally.phase(i < plan.forward_steps ? Phase::loss : Phase::backward);
      if (step.kind == PlanStep::Kind::add)
        tally.operation({"gradient sum", n, 2 * n, n});
      else
        tally.operation({"gradient copy", 0, step.kind == PlanStep::Kind::copy ? n : 0, n});
    } else if (step.kind == PlanStep::Kind::forward) {
      tally.phase(graph.ops[step.op].loss ? Phase::loss : Phase::forward);
      for (const Operation& o : sink.part(step.op).forward) tally.operation(o);
    } else {
      const ModelGraph::Op& op = graph.ops[step.op];
      tally.phase(Phase::backward);
      if (sink.part(step.op).parameters > 0) tally.gradient(sink.part(step.op).parameters, sink.part(step.op).part);
      for (std::size_t k = 0; k < op.uses.count; ++k) {
        const ModelGraph::Tensor& tensor = graph.tensors[graph.tensor(op, k)];
        if (tensor.fixed || written[graph.tensor(op, k)] != 0) continue;
        written[graph.tensor(op, k)] = 1;
        tally.gradient(tensor.shape.size(), tensor.output                    ? ModelPart::output
                                            : tensor.kind == Kind::embedding ? ModelPart::embedding
                                                                             : ModelPart::body);
      }
      for (const Operation& o : sink.part(step.op).backward) tally.operation(o);
    }
    tally.release(given_back[i]);
  }
}

// Throws Error unless the lengths of all ragged axes are given.
constexpr void check_lengths(const ModelGraph& graph, const AxisLengths& lengths) {
  for (const Axis& axis : graph.axes) {
    bool given = !axis.ragged;
    for (const AxisLength& length : lengths) given = given || same_text(axis.name, length.axis);
    if (!given)
      fail("cost: the axis '", axis.name, "' is ragged: give its rows per example, as in {{\"", axis.name, "\", 20}}");
  }
}

}  // namespace detail

// Reports the operations of a training step on `examples` examples, without the update, to a tally (core/cost.hpp):
// forward, loss and backward, in the order of execution. The fields of the batch are held throughout. Returns the
// number of their elements. lengths: the rows per example of the model's ragged axes. With the averages of a data set,
// the cost of attention is a lower bound on its mean, because it is quadratic in the number of rows.
template <class ModelFunction, class Tally>
constexpr std::uint64_t count_step(const ModelFunction& model, std::uint64_t examples, Tally& tally,
                                   const AxisLengths& lengths = {}) {
  Recorder<detail::OperationSink> net({}, examples, lengths);
  model(net);
  const ModelGraph& graph = net.graph();
  detail::check_lengths(graph, lengths);
  std::uint64_t fields = 0;
  for (const ModelGraph::ValueInfo& info : graph.values)
    if (info.is_field()) fields += net.rows(info.value) * info.value.shape.size();
  tally.hold(fields);
  detail::count_plan(graph, net.sink(), Planner(graph, {}).plan(), examples, tally);
  return fields;
}

// Returns the number of trained parameters.
template <class ModelFunction>
constexpr std::uint64_t parameters_of(const ModelFunction& model) {
  Recorder<> net;
  model(net);
  return net.graph().parameters;
}

// Returns the cost of a batch, by default of one example. Some work does not grow with the batch, such as the products
// of LookUpDense. `activations` are the elements that are kept from the forward to the backward pass, including the
// gradient of the outputs. A loss does not count. lengths: as in count_step.
template <class ModelFunction>
constexpr Cost model_cost(const ModelFunction& model, const AxisLengths& lengths = {}, std::uint64_t examples = 1) {
  struct Sums : CostSum {
    std::uint64_t forward = 0, backward = 0;
    bool goes_back = false;
    constexpr void phase(Phase phase) { goes_back = phase == Phase::backward; }
    constexpr void operation(const Operation& o) { (goes_back ? backward : forward) += o.flops; }
  } sums;
  Recorder<detail::OperationSink> net({}, examples, lengths);
  WithGivenGradient<ModelFunction>{model}(net);
  const ModelGraph& graph = net.graph();
  detail::check_lengths(graph, lengths);
  const MemoryPlan plan = Planner(graph, {}).plan();
  detail::count_plan(graph, net.sink(), plan, examples, sums);
  std::uint64_t kept = 0;
  for (const PlanBuffer& buffer : plan.buffers)
    if (buffer.used() && buffer.first < plan.forward_steps && buffer.last >= plan.forward_steps)
      kept += detail::elements_in(graph, buffer, examples);
  return {graph.parameters, sums.forward, sums.backward, kept};
}

// Returns the number of bytes that activations, their gradients and what layers keep need at least, for a training step
// on `sizes.examples` examples of a model with losses.
template <class ModelFunction>
constexpr std::size_t least_bytes(const ModelFunction& model, const PlanSizes& sizes, const AxisLengths& lengths = {}) {
  Recorder<> net({}, 1, lengths);
  model(net);
  detail::check_lengths(net.graph(), lengths);
  MemoryPlan plan = Planner(net.graph(), {}).plan();
  size_buffers(plan, net.graph(), sizes);
  return plan.least_bytes;
}

}  // namespace algoperf
