#pragma once

#include <cstddef>
#include <string>

#include "../nn/graph/op_order.hpp"
#include "check_fields.hpp"

namespace algoperf::detail {

// Returns the field on the axis of a model's outputs that the outputs depend on, or no_index if there is none. The
// model must keep outputs.
GraphIndex decoded_field(const ModelGraph& graph);

// Returns whether the outputs depend on fields on other axes.
bool reads_beside(const ModelGraph& graph, GraphIndex axis);

// Returns why a model cannot have a Decoder, or an empty string if it can.
std::string decoding_obstacle(const ModelGraph& graph);

#if ALGOPERF_DEFINES_COMPILED

ALGOPERF_COMPILED ALGOPERF_COLD GraphIndex decoded_field(const ModelGraph& graph) {
  const GraphIndex axis = graph.values[graph.outputs.back()].value.axis;
  for (const ModelGraph::ValueInfo& info : graph.values)
    if (info.is_field() && info.value.axis == axis && outputs_need(graph, info)) return info.value.index;
  return no_index;
}

ALGOPERF_COMPILED ALGOPERF_COLD bool reads_beside(const ModelGraph& graph, GraphIndex axis) {
  for (const ModelGraph::ValueInfo& info : graph.values)
    if (info.is_field() && info.value.axis != axis && outputs_need(graph, info)) return true;
  return false;
}

ALGOPERF_COMPILED ALGOPERF_COLD std::string decoding_obstacle(const ModelGraph& graph) {
  if (graph.outputs.empty()) return "the model keeps no outputs";
  const GraphIndex decoded = graph.values[graph.outputs.back()].value.axis, field = decoded_field(graph);
  const std::string on_axis = std::string(" on the axis '") + graph.axes[decoded].name + "'";
  if (decoded == examples_axis) return "the model has one row of outputs per example, expected one per token";
  if (field == no_index) return "the model reads no field of tokens" + on_axis + " of its outputs";
  for (const ModelGraph::ValueInfo& info : graph.values) {
    if (!info.is_field() || !outputs_need(graph, info)) continue;
    const std::string reads = std::string("the model reads the field '") + info.field + "'";
    if (info.value.axis != decoded && !graph.axes[decoded].ragged)
      return reads + " beside tokens" + on_axis + ", which must then be ragged";
    if (info.value.axis == decoded &&
        (info.value.index != field || info.value.type != ElementType::token || info.value.shape.size() != 1))
      return reads + on_axis + ", expected one field there, of one token per row";
  }
  for (std::size_t i = 0; i < graph.ops_of_outputs(); ++i) {
    const ModelGraph::Op& op = graph.ops[i];
    if (op.loss || !lies_on(graph, op, decoded)) continue;
    bool decodes = op.traits.decodes;
    for (std::size_t k = 0; k < op.outputs.count; ++k)
      decodes = decodes && graph.values[graph.output(op, k)].value.axis == decoded;
    if (!decodes)
      return graph.path(op.scope, op.name) + " does not support decoding" + on_axis +
             ": its rows depend on later rows, or it does not declare `decodes`";
  }
  return "";
}

#endif  // ALGOPERF_DEFINES_COMPILED

}  // namespace algoperf::detail
