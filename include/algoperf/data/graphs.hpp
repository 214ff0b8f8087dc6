#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../core/error.hpp"

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

  // Throws Error unless the sizes fit each other, and labels, tags and neighbours are in their ranges.
  void check() const {
    require(first_node.size() == size() + 1 && first_neighbour.size() == tags.size() + 1, "Graphs: there are ", size(),
            " labels, ", tags.size(), " tags, ", first_node.size(), " entries of first_node and ",
            first_neighbour.size(), " of first_neighbour, expected one more entry than labels and than tags");
    require(is_partition(first_node, tags.size()), "Graphs: first_node does not ascend from 0 to ", tags.size());
    require(is_partition(first_neighbour, neighbours.size()), "Graphs: first_neighbour does not ascend from 0 to ",
            neighbours.size());
    for (std::size_t g = 0; g < size(); ++g) {
      require(is_below(labels[g], label_values.size()), "Graphs: the label of graph ", g, " is ", labels[g],
              ", expected [0, ", label_values.size(), ")");
      for (std::size_t v = first_node[g]; v < first_node[g + 1]; ++v) {
        require(is_below(tags[v], tag_values.size()), "Graphs: the tag of node ", v, " is ", tags[v], ", expected [0, ",
                tag_values.size(), ")");
        for (std::size_t i = first_neighbour[v]; i < first_neighbour[v + 1]; ++i)
          require(neighbours[i] < nodes(g), "Graphs: neighbour ", i, " is ", neighbours[i], ", but graph ", g, " has ",
                  nodes(g), " nodes");
      }
    }
  }
  std::size_t size() const { return labels.size(); }
  std::size_t nodes(std::size_t graph) const { return first_node[graph + 1] - first_node[graph]; }

 private:
  static bool is_partition(const std::vector<std::size_t>& bounds, std::size_t end) {
    std::size_t last = 0;
    for (const std::size_t bound : bounds) {
      if (bound < last) return false;
      last = bound;
    }
    return bounds.front() == 0 && last == end;
  }
  static bool is_below(std::int32_t x, std::size_t end) { return x >= 0 && static_cast<std::size_t>(x) < end; }
};

}  // namespace algoperf
