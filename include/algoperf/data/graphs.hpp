#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../core/config.hpp"

namespace algoperf {

// Labelled graphs whose nodes have tags.
// Graph g has the nodes [first_node[g], first_node[g + 1]). Node v has the neighbours at positions [first_neighbour[v],
// first_neighbour[v + 1]) of `neighbours` (compressed sparse rows). An undirected edge is listed at both its ends,
// which is not checked.
struct Graphs {
  std::vector<std::int32_t> labels;          // per graph; the label of graph g is label_values[labels[g]]
  std::vector<std::int32_t> label_values;    // the distinct labels, ascending
  std::vector<std::size_t> first_node;       // size() + 1 entries
  std::vector<std::int32_t> tags;            // per node; the tag of node v is tag_values[tags[v]]
  std::vector<std::int32_t> tag_values;      // the distinct tags, ascending
  std::vector<std::size_t> first_neighbour;  // tags.size() + 1 entries
  std::vector<std::uint32_t> neighbours;     // node indices within the graph

  std::size_t size() const { return labels.size(); }
  std::size_t nodes(std::size_t graph) const { return first_node[graph + 1] - first_node[graph]; }
};

}  // namespace algoperf
