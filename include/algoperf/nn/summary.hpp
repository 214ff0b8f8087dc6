// summary(model): a table of a model's parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "../core/describe_shape.hpp"
#include "../core/options.hpp"
#include "graph/graph_cost.hpp"

namespace algoperf {

namespace detail {

// Returns the name of a type without the library's namespace and without template arguments.
template <class T>
std::string_view part_name() {
  std::string_view name = type_text<T>();
  name = name.substr(0, name.find('<'));
  const std::size_t space = name.rfind("::");
  return space == std::string_view::npos ? name : name.substr(space + 2);
}

// A sink that also keeps the names of the parts' types.
class SummarySink : public OperationSink {
 public:
  template <class Net, class L>
  void layer(const Net& net, GraphIndex op, const L& layer, const Value& x) {
    OperationSink::layer(net, op, layer, x);
    types_.push_back(part_name<L>());
    parameters_.push_back(layer.parameters(x.shape));
  }
  template <class Net, class O, std::size_t N>
  void op(const Net& net, GraphIndex op, const O& part, const std::array<Value, N>& x) {
    OperationSink::op(net, op, part, x);
    types_.push_back(part_name<O>());
    parameters_.push_back(0);
  }
  template <class Net>
  void view(const Net& net, GraphIndex op) {
    OperationSink::view(net, op);
    types_.push_back("");
    parameters_.push_back(0);
  }
  std::string_view type(std::size_t op) const { return types_[op]; }
  std::uint64_t parameters(std::size_t op) const { return parameters_[op]; }

 private:
  std::vector<std::string_view> types_;
  std::vector<std::uint64_t> parameters_;
};

struct SummaryRow {
  std::string path, type, shape, parameters, flops;
};

inline std::string text_of(const std::vector<SummaryRow>& rows) {
  std::size_t path = 6, type = 18;
  for (const SummaryRow& row : rows) {
    path = row.path.size() > path ? row.path.size() : path;
    type = row.type.size() > type ? row.type.size() : type;
  }
  std::string text;
  for (const SummaryRow& row : rows) {
    char line[512];
    std::snprintf(line, sizeof line, "%-*s  %-*s  %-18s%14s%16s\n", static_cast<int>(path), row.path.c_str(),
                  static_cast<int>(type), row.type.c_str(), row.shape.c_str(), row.parameters.c_str(),
                  row.flops.c_str());
    text += line;
  }
  return text;
}

}  // namespace detail

// Returns a table of a model function's fields, layers and ops: path (as in the names of tensors), type, shape of a row
// of the output, parameters, FLOPs of one example's forward pass. A shared tensor has a row of its own. The last row is
// the total, which excludes the parameters of parts that are not trained. FLOPs are those of an example with the given
// number of rows on each ragged axis, or else one row.
//   std::fputs(summary(model).c_str(), stdout);
template <class ModelFunction>
std::string summary(const ModelFunction& model, const AxisLengths& lengths = {}) {
  Recorder<detail::SummarySink> net({}, 1, lengths);
  model(net);
  const ModelGraph& graph = net.graph();
  std::vector<detail::SummaryRow> rows{{"", "layer", "output", "parameters", "FLOPs"}};
  for (const ModelGraph::ValueInfo& info : graph.values)
    if (info.is_field()) rows.push_back({"", info.field, describe(info.value.shape), "", ""});
  for (const ModelGraph::Tensor& tensor : graph.tensors)
    rows.push_back({graph.path(tensor.scope, tensor.name), "tensor", describe(tensor.shape),
                    std::to_string(tensor.shape.size()), ""});
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    if (net.sink().type(i).empty()) continue;  // a change of shape
    const ModelGraph::Op& op = graph.ops[i];
    std::uint64_t flops = 0;
    for (const Operation& o : net.sink().part(static_cast<GraphIndex>(i)).forward) flops += o.flops;
    total += flops;
    rows.push_back({graph.path(op.scope, op.name), std::string(net.sink().type(i)),
                    describe(graph.values[graph.output(op, 0)].value.shape), std::to_string(net.sink().parameters(i)),
                    std::to_string(flops)});
  }
  rows.push_back({"", "total", "", std::to_string(graph.parameters), std::to_string(total)});
  return detail::text_of(rows);
}

}  // namespace algoperf
