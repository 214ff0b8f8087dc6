// MotifGraphs: synthetic labelled graphs, for graph networks without a download; motif_labels: labels of four tasks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/random.hpp"
#include "../graphs.hpp"

namespace algoperf {

// The number of tasks of motif_labels.
inline constexpr std::size_t motif_tasks = 4;

// Returns four binary labels per graph. Element 4 g + t is 1 if graph g has a node of tag t with at least two
// neighbours of tag (t + 1) mod 4. MotifGraphs' own label is that of t = 0. Throws Error unless there are four tag
// values.
inline std::vector<std::int32_t> motif_labels(const Graphs& graphs) {
  require(graphs.tag_values.size() == motif_tasks, "motif_labels: the graphs have ", graphs.tag_values.size(),
          " tags, expected 4");
  std::vector<std::int32_t> labels;
  for (std::size_t g = 0; g + 1 < graphs.first_node.size(); ++g) {
    labels.resize(labels.size() + motif_tasks, 0);
    std::int32_t* const of_graph = labels.data() + labels.size() - motif_tasks;
    const std::size_t first = graphs.first_node[g];
    for (std::size_t v = first; v < graphs.first_node[g + 1]; ++v) {
      const auto tag = static_cast<std::size_t>(graphs.tags[v]), next = (tag + 1) % motif_tasks;
      std::size_t found = 0;
      for (std::size_t i = graphs.first_neighbour[v]; i < graphs.first_neighbour[v + 1]; ++i)
        found += static_cast<std::size_t>(graphs.tags[first + graphs.neighbours[i]]) == next;
      if (found >= 2) of_graph[tag] = 1;
    }
  }
  return labels;
}

// Random trees of 8 to `most_nodes` nodes, with up to three additional edges. Each node has one of four tags. The label
// is 1 if a node of tag 0 has at least two neighbours of tag 1, else 0. By default, about 27 % of labels are 1. Graph i
// depends only on first + i, seed and most_nodes.
struct MotifGraphs {
  std::uint64_t seed = 1;
  std::uint64_t first = 0;
  std::size_t count = 1000;
  std::size_t most_nodes = 24;

  Graphs draw() const {
    require(most_nodes >= 8 && most_nodes <= INT32_MAX, "MotifGraphs: most_nodes is ", most_nodes, ", expected 8 to ",
            INT32_MAX);
    Graphs graphs;
    graphs.label_values = {0, 1};
    graphs.tag_values = {0, 1, 2, 3};
    graphs.first_node.push_back(0);
    graphs.first_neighbour.push_back(0);
    for (std::size_t g = 0; g < count; ++g) {
      RandomStream random(RandomKey{seed}.fold(stream_tag).fold(first + g));
      const std::uint32_t nodes = 8 + random.below(static_cast<std::uint32_t>(most_nodes - 7));
      std::vector<std::vector<std::uint32_t>> neighbours(nodes);
      const auto connect = [&](std::uint32_t a, std::uint32_t b) {
        if (a == b || std::find(neighbours[a].begin(), neighbours[a].end(), b) != neighbours[a].end()) return;
        neighbours[a].push_back(b);
        neighbours[b].push_back(a);
      };
      for (std::uint32_t v = 1; v < nodes; ++v) connect(v, random.below(v));
      for (std::uint32_t more = random.below(4); more > 0; --more) {
        const std::uint32_t a = random.below(nodes), b = random.below(nodes);
        connect(a, b);
      }
      std::vector<std::int32_t> tags(nodes);
      for (std::int32_t& tag : tags) tag = static_cast<std::int32_t>(random.below(4));
      for (std::uint32_t v = 0; v < nodes; ++v) {
        graphs.neighbours.insert(graphs.neighbours.end(), neighbours[v].begin(), neighbours[v].end());
        graphs.first_neighbour.push_back(graphs.neighbours.size());
      }
      graphs.tags.insert(graphs.tags.end(), tags.begin(), tags.end());
      graphs.first_node.push_back(graphs.tags.size());
    }
    const std::vector<std::int32_t> motifs = motif_labels(graphs);
    for (std::size_t g = 0; g < count; ++g) graphs.labels.push_back(motifs[motif_tasks * g]);
    return graphs;
  }

 private:
  static constexpr std::uint64_t stream_tag = 0x6D6F746966;  // "motif"
};

}  // namespace algoperf
