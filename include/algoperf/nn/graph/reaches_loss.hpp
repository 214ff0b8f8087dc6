// values_that_reach_a_loss: which values of a model graph a loss depends on.
#pragma once

#include <cstddef>

#include "model_graph.hpp"

namespace algoperf::detail {

// Returns a mark per value: 1 for the inputs and outputs of losses, and of ops with an output that is marked; else 0.
ALGOPERF_COLD constexpr List<GraphIndex> values_that_reach_a_loss(const ModelGraph& graph) {
  List<GraphIndex> marks(graph.values.size(), 0);
  for (std::size_t i = graph.ops.size(); i-- > 0;) {
    const ModelGraph::Op& op = graph.ops[i];
    bool reaches = op.loss;
    for (std::size_t k = 0; k < op.outputs.count; ++k) reaches = reaches || marks[graph.output(op, k)] != 0;
    if (!reaches) continue;
    for (std::size_t k = 0; k < op.inputs.count; ++k) marks[graph.input(op, k)] = 1;
    for (std::size_t k = 0; k < op.outputs.count; ++k) marks[graph.output(op, k)] = 1;
  }
  return marks;
}

}  // namespace algoperf::detail
