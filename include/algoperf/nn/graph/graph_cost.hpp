// cost(model): the cost of a model function, in constant evaluation if the model is a constant.
//   static_assert(cost(TwoTowers{}).parameters == 818);
#pragma once

#include <cstddef>
#include <cstdint>

#include "planner.hpp"
#include "recorder.hpp"

namespace algoperf {

namespace detail {

// Lets a layer report its operations, but not the memory, which the planner assigns.
template <class Tally>
struct OperationsOnly {
  Tally tally{};
  constexpr void operation(const Operation& o) { tally.operation(o); }
  constexpr void hold(std::uint64_t) const {}
  constexpr void release(std::uint64_t) const {}
  constexpr void gradient(std::uint64_t, ModelPart) const {}
};

// A sink that reports the operations of each part to two tallies.
template <class Tally>
struct CountingSink : NoSink {
  OperationsOnly<Tally> forward, backward;

  template <class Net, class L>
  constexpr void layer(const Net& net, GraphIndex op, const L& layer, const Value& x) {
    layer.count_forward(x.shape, net.rows(x), forward);
    if (net.graph().ops[op].trains) layer.count_backward(x.shape, net.rows(x), net.needs_gradient(x), backward);
  }
  template <class Net, class O, std::size_t N>
  constexpr void op(const Net& net, GraphIndex op, const O& part, const std::array<Value, N>& x) {
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

 private:
  template <class Net, std::size_t N>
  static constexpr Operation one_flop_per_element(const Net& net, const std::array<Value, N>& x, bool backward) {
    std::uint64_t n = 0;
    for (const Value& value : x)
      if (!backward || net.needs_gradient(value)) n += net.rows(value) * value.shape.size();
    return {"op", n, n, n};
  }
};

}  // namespace detail

// Returns the cost of one example. `activations` are the elements that the planner keeps from the forward to the
// backward pass; they are 0 for a model without a loss.
template <class ModelFunction>
constexpr Cost cost(const ModelFunction& model) {
  Recorder<detail::CountingSink<CostSum>> net;
  model(net);
  const ModelGraph& graph = net.graph();
  const MemoryPlan plan = Planner(graph, {}).plan();
  std::uint64_t kept = 0;
  for (const PlanBuffer& buffer : plan.buffers)
    if (buffer.used() && buffer.first < plan.forward_steps && buffer.last >= plan.forward_steps)
      kept += buffer.elements.kept * graph.axes[buffer.axis].rows;
  return {graph.parameters, net.sink().forward.tally.flops, net.sink().backward.tally.flops, kept};
}

// Returns the number of bytes that activations, their gradients and what layers keep need at least, for a training step
// on `sizes.examples` examples.
template <class ModelFunction>
constexpr std::size_t least_bytes(const ModelFunction& model, const PlanSizes& sizes) {
  Recorder<> net;
  model(net);
  MemoryPlan plan = Planner(net.graph(), {}).plan();
  size_buffers(plan, net.graph(), sizes);
  return plan.least_bytes;
}

}  // namespace algoperf
