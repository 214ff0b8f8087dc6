// Labelled graphs as data sets of fields, for models such as GraphNetwork:
//   graph_fields(graphs)                        with the label of each graph
//   graph_task_fields(graphs, labels, weights)  with labels of several tasks, some of which may be missing
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "graphs.hpp"
#include "in_memory_fields.hpp"

namespace algoperf {

namespace detail {
template <class... Labels>
using LabelledGraphFields = InMemoryFields<Field<"nodes", float>, Field<"edges", float>, Field<"senders", std::int32_t>,
                                           Field<"receivers", std::int32_t>, Labels...>;
}  // namespace detail

// The fields of a graph: features of its nodes on the ragged axis "nodes"; on the ragged axis "edges", features of its
// edges, and the nodes at which they begin and end; and one class.
using GraphFields = detail::LabelledGraphFields<Field<"label", std::int32_t>>;
// The same with a label and a weight per task, for Weighted{SigmoidCrossEntropy{}}.
using GraphTaskFields = detail::LabelledGraphFields<Field<"label", std::int32_t>, Field<"weight", float>>;

namespace detail {

// All fields of some graphs except the labels.
struct GraphColumns {
  RaggedAxis nodes{"nodes", {}}, edges{"edges", {}};
  std::size_t width;  // of a node
  std::vector<float> of_nodes, of_edges;
  std::vector<std::int32_t> senders, receivers;

  explicit GraphColumns(const Graphs& graphs) : width(graphs.tag_values.size() + 1) { graphs.check(); }
  void add(const Graphs& graphs, std::size_t g) {
    const std::size_t first = graphs.first_node[g], end = graphs.first_node[g + 1];
    nodes.rows.push_back(static_cast<std::uint32_t>(end - first));
    edges.rows.push_back(static_cast<std::uint32_t>(graphs.first_neighbour[end] - graphs.first_neighbour[first]));
    for (std::size_t v = first; v < end; ++v) {
      const std::size_t begin = graphs.first_neighbour[v], past = graphs.first_neighbour[v + 1];
      of_nodes.resize(of_nodes.size() + width, 0.0f);
      of_nodes[of_nodes.size() - width + static_cast<std::size_t>(graphs.tags[v])] = 1;
      of_nodes.back() = static_cast<float>(past - begin);
      for (std::size_t i = begin; i < past; ++i) {
        senders.push_back(static_cast<std::int32_t>(v - first));
        receivers.push_back(static_cast<std::int32_t>(graphs.neighbours[i]));
        of_edges.push_back(1);
      }
    }
  }
  // Moves the columns into a data set with these further fields.
  template <class... Last>
  auto with(FieldValues<Last>... last) {
    return LabelledGraphFields<Last...>({std::move(nodes), std::move(edges)}, {std::move(of_nodes), {width}, "nodes"},
                                        {std::move(of_edges), {1}, "edges"}, {std::move(senders), {1}, "edges"},
                                        {std::move(receivers), {1}, "edges"}, std::move(last)...);
  }
};

}  // namespace detail

// Returns the graphs whose numbers are in `order`, in this order, or all in their order. A node's features
// are its tag, one-hot, and the number of its neighbours. An edge leads from a node to each of its neighbours, and its
// feature is 1. Throws Error unless the graphs pass check() and `order` names graphs that exist.
inline GraphFields graph_fields(const Graphs& graphs, const std::vector<std::size_t>& order) {
  detail::GraphColumns columns(graphs);
  std::vector<std::int32_t> labels;
  for (const std::size_t g : order) {
    require(g < graphs.size(), "graph_fields: the order has graph ", g, ", expected [0, ", graphs.size(), ")");
    columns.add(graphs, g);
    labels.push_back(graphs.labels[g]);
  }
  return columns.with(FieldValues<Field<"label", std::int32_t>>{std::move(labels), {1}});
}
inline GraphFields graph_fields(const Graphs& graphs) {
  std::vector<std::size_t> order(graphs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return graph_fields(graphs, order);
}

// Returns all graphs with labels of several tasks instead of their own: labels.size() / graphs.size() labels per graph,
// 0 or 1. Label t of graph g is labels[g tasks + t], and its weight weights[g tasks + t]; a label of weight 0 is
// missing. Throws Error unless the graphs pass check(), there is at least one, the number of labels is a positive
// multiple of theirs, and there are as many weights.
inline GraphTaskFields graph_task_fields(const Graphs& graphs, std::vector<std::int32_t> labels,
                                         std::vector<float> weights) {
  require(graphs.size() > 0 && !labels.empty() && labels.size() % graphs.size() == 0 && weights.size() == labels.size(),
          "graph_task_fields: there are ", labels.size(), " labels and ", weights.size(), " weights for ",
          graphs.size(), " graphs, expected the same number of each per graph");
  const Shape tasks{labels.size() / graphs.size()};
  detail::GraphColumns columns(graphs);
  for (std::size_t g = 0; g < graphs.size(); ++g) columns.add(graphs, g);
  return columns.with(FieldValues<Field<"label", std::int32_t>>{std::move(labels), tasks},
                      FieldValues<Field<"weight", float>>{std::move(weights), tasks});
}

}  // namespace algoperf
