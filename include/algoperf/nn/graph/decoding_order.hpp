// Which ops of a model run at every step of decoding.
#pragma once

#include <cstddef>

#include "memory_plan.hpp"

namespace algoperf::detail {

// The ops of a graph in the order of their steps: from first_decoded on, those on the decoded axis.
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
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    if (!lies_on(graph, graph.ops[i], decoded_axis)) order.ops.push_back(static_cast<GraphIndex>(i));
  order.first_decoded = order.ops.size();
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    if (lies_on(graph, graph.ops[i], decoded_axis)) order.ops.push_back(static_cast<GraphIndex>(i));
  return order;
}

// Keeps what the steps before decoding leave for it, because every step of decoding reads it.
constexpr void keep_for_decoding(MemoryPlan& plan) {
  for (PlanBuffer& buffer : plan.buffers)
    if (buffer.used() && buffer.first < plan.steps_before_decoding && buffer.last >= plan.steps_before_decoding)
      buffer.last = plan.forward_steps - 1;
}

// Returns the first op, except losses, that prevents decoding on an axis, or null. Each op on it must compute rows on
// this axis from the same or earlier rows.
ALGOPERF_COLD const ModelGraph::Op* find_undecodable(const ModelGraph& graph, GraphIndex axis);

#if ALGOPERF_DEFINES_COMPILED

ALGOPERF_COMPILED ALGOPERF_COLD const ModelGraph::Op* find_undecodable(const ModelGraph& graph, GraphIndex axis) {
  for (const ModelGraph::Op& op : graph.ops) {
    if (op.loss || !lies_on(graph, op, axis)) continue;
    if (op.traits.rows_read == RowsRead::any) return &op;
    for (std::size_t k = 0; k < op.outputs.count; ++k)
      if (graph.values[graph.output(op, k)].value.axis != axis) return &op;
  }
  return nullptr;
}

#endif  // ALGOPERF_DEFINES_COMPILED

}  // namespace algoperf::detail
