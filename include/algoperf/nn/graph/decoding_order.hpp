// Which ops of a model run at every step of decoding.
#pragma once

#include <cstddef>

#include "memory_plan.hpp"

namespace algoperf::detail {

// The ops of a graph in the order of their steps. With a decoded axis: first those that lie off it, then from index
// first_decoded on those that lie on it; ops that run after the outputs are complete come last.
struct OpOrder {
  List<GraphIndex> ops;
  std::size_t first_decoded = 0;
};

constexpr bool lies_on(const ModelGraph& graph, const ModelGraph::Op& op, GraphIndex axis) {
  for (std::size_t k = 0; k < op.inputs.count; ++k)
    if (graph.values[graph.input(op, k)].value.axis == axis) return true;
  for (std::size_t k = 0; k < op.outputs.count; ++k)
    if (graph.values[graph.output(op, k)].value.axis == axis) return true;
  return false;
}

// Without a decoded axis, no_index, the order is that of the graph.
ALGOPERF_COLD constexpr OpOrder order_of_ops(const ModelGraph& graph, GraphIndex decoded_axis) {
  OpOrder order;
  const std::size_t ops = graph.ops.size(), needed = decoded_axis == no_index ? ops : graph.ops_of_outputs();
  for (std::size_t i = 0; i < needed; ++i)
    if (!lies_on(graph, graph.ops[i], decoded_axis)) order.ops.push_back(static_cast<GraphIndex>(i));
  order.first_decoded = order.ops.size();
  for (std::size_t i = 0; i < ops; ++i)
    if (i >= needed || lies_on(graph, graph.ops[i], decoded_axis)) order.ops.push_back(static_cast<GraphIndex>(i));
  return order;
}

// Extends the lifetimes of the buffers that steps before decoding write and steps of decoding read to the end of the
// forward pass, because each step of decoding reads them again.
constexpr void keep_for_decoding(MemoryPlan& plan) {
  for (PlanBuffer& buffer : plan.buffers)
    if (buffer.used() && buffer.first < plan.steps_before_decoding && buffer.last >= plan.steps_before_decoding)
      buffer.last = plan.forward_steps - 1;
}

}  // namespace algoperf::detail
