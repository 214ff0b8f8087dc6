#pragma once

#include <cstddef>
#include <cstdint>

#include "model_graph.hpp"

namespace algoperf::detail {

constexpr bool has_bit(std::uint64_t mask, std::size_t k) { return (mask >> k & 1) != 0; }

// Returns 1 for each op that writes its output over its input: those that can, where no later op in `order` and, in
// training, no backward step reads the input, and the input is neither kept nor a field of the batch, and lies on the
// output's axis.
ALGOPERF_COLD constexpr List<GraphIndex> ops_in_place(const ModelGraph& graph, bool training,
                                                      const List<GraphIndex>& order) {
  const std::size_t ops = graph.ops.size();
  // The content of a value is the first of the values that are views of each other.
  List<GraphIndex> content(graph.values.size(), 0);
  for (std::size_t v = 0; v < content.size(); ++v) content[v] = static_cast<GraphIndex>(v);
  for (const ModelGraph::Op& op : graph.ops)
    if (op.traits.view) content[graph.output(op, 0)] = content[graph.input(op, 0)];
  List<GraphIndex> last_read(graph.values.size(), 0);
  List<GraphIndex> read_later(graph.values.size(), 0);  // in backward, or by the caller
  for (const GraphIndex i : order) {
    const ModelGraph::Op& op = graph.ops[i];
    const bool goes_back = training && op.trains;
    for (std::size_t k = 0; k < op.inputs.count; ++k) {
      const GraphIndex c = content[graph.input(op, k)];
      if (!op.traits.view) last_read[c] = i;
      if (goes_back && has_bit(op.traits.reads_inputs, k)) read_later[c] = 1;
    }
    for (std::size_t k = 0; k < op.outputs.count; ++k)
      if (op.loss || (goes_back && has_bit(op.traits.reads_outputs, k))) read_later[content[graph.output(op, k)]] = 1;
  }
  for (const GraphIndex v : graph.outputs) read_later[content[v]] = 1;

  List<GraphIndex> in_place(ops, 0);
  for (std::size_t i = 0; i < ops; ++i) {
    const ModelGraph::Op& op = graph.ops[i];
    if (op.traits.in_place == no_index || op.traits.view) continue;
    const GraphIndex c = content[graph.input(op, op.traits.in_place)];
    std::size_t times = 0;  // that the op reads it
    for (std::size_t k = 0; k < op.inputs.count; ++k) times += content[graph.input(op, k)] == c;
    const GraphIndex from = graph.values[graph.input(op, op.traits.in_place)].value.axis;
    in_place[i] = !graph.values[c].is_field() && read_later[c] == 0 && last_read[c] == i && times == 1 &&
                  from == graph.values[graph.output(op, 0)].value.axis;
  }
  return in_place;
}

}  // namespace algoperf::detail
