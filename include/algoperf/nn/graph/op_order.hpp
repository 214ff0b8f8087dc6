// The order in which a plan runs the ops of a model.
#pragma once

#include <cstddef>

#include "memory_plan.hpp"

namespace algoperf::detail {

// The ops of a graph in the order in which a plan runs them: those that the outputs may depend on, first off the
// decoded axis, then from index first_decoded on on it; then losses and the ops that follow the outputs. Otherwise, the
// order is that of the graph.
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

// decoded_axis: no_index for none.
ALGOPERF_COLD constexpr OpOrder order_of_ops(const ModelGraph& graph, GraphIndex decoded_axis) {
  OpOrder order;
  const std::size_t outputs = graph.ops_of_outputs();
  const auto append = [&](const auto& condition) {
    for (std::size_t i = 0; i < graph.ops.size(); ++i)
      if (condition(i < outputs && !graph.ops[i].loss, lies_on(graph, graph.ops[i], decoded_axis)))
        order.ops.push_back(static_cast<GraphIndex>(i));
  };
  append([](bool needed, bool on_axis) { return needed && !on_axis; });
  order.first_decoded = order.ops.size();
  append([](bool needed, bool on_axis) { return needed && on_axis; });
  append([](bool needed, bool) { return !needed; });
  return order;
}

// Extends the lifetimes of the buffers that ops off the decoded axis write and ops on it read to the end of the forward
// pass, because each step of decoding reads them again.
constexpr void keep_for_decoding(MemoryPlan& plan) {
  for (PlanBuffer& buffer : plan.buffers)
    if (buffer.used() && buffer.first < plan.steps_before_decoding && buffer.last >= plan.steps_before_decoding)
      buffer.last = plan.forward_steps - 1;
}

}  // namespace algoperf::detail
