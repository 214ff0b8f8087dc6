// MotifGraphs: synthetic labelled graphs, for graph networks without a download.
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
      bool found = false;
      for (std::uint32_t v = 0; v < nodes; ++v) {
        std::size_t ones = 0;
        for (const std::uint32_t neighbour : neighbours[v]) ones += tags[neighbour] == 1;
        found = found || (tags[v] == 0 && ones >= 2);
        graphs.neighbours.insert(graphs.neighbours.end(), neighbours[v].begin(), neighbours[v].end());
        graphs.first_neighbour.push_back(graphs.neighbours.size());
      }
      graphs.tags.insert(graphs.tags.end(), tags.begin(), tags.end());
      graphs.first_node.push_back(graphs.tags.size());
      graphs.labels.push_back(found ? 1 : 0);
    }
    return graphs;
  }

 private:
  static constexpr std::uint64_t stream_tag = 0x6D6F746966;  // "motif"
};

}  // namespace algoperf
