// Any bytes, plain or gzipped, either load as a file of graphs or are refused with an Error.
#include <algoperf/data/readers/graphs.hpp>

#include "memory_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  const MemoryFile file(bytes, n);
  try {
    const algoperf::Graphs graphs = algoperf::load_graphs(file.path(), 1 << 16);
    if (graphs.size() == 0 || graphs.first_node.size() != graphs.size() + 1) std::abort();
    if (graphs.first_node.back() != graphs.tags.size()) std::abort();
    if (graphs.first_neighbour.size() != graphs.tags.size() + 1) std::abort();
    if (graphs.first_neighbour.back() != graphs.neighbours.size()) std::abort();
    for (std::size_t g = 0; g < graphs.size(); ++g) {
      graphs.label_values.at(static_cast<std::size_t>(graphs.labels[g]));
      for (std::size_t v = graphs.first_node[g]; v < graphs.first_node[g + 1]; ++v) {
        graphs.tag_values.at(static_cast<std::size_t>(graphs.tags[v]));
        for (std::size_t i = graphs.first_neighbour[v]; i < graphs.first_neighbour[v + 1]; ++i)
          if (graphs.neighbours[i] >= graphs.nodes(g)) std::abort();
      }
    }
  } catch (const algoperf::Error&) {
  }
  return 0;
}
