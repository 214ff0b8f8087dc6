// Graphs: reads many small labelled graphs from one text file, plain or gzipped, in the format of the data sets of the
// Graph Isomorphism Network (Xu et al. 2019, arXiv:1810.00826). Link with zlib.
//
// The first line is the number of graphs. Each graph follows as a line "nodes label" and one line per node, "tag
// neighbours n1 n2 ...": the node's tag, the number of its neighbours, and their indices within the graph, from 0.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "../graphs.hpp"
#include "gz_file.hpp"
#include "in_quotes.hpp"
#include "lines.hpp"

namespace algoperf {

namespace detail {

class GraphsReader {
 public:
  GraphsReader(const std::string& path, std::uint64_t limit) : file_(read_unpacked(path, limit)), lines_(file_.bytes) {}

  Graphs read() {
    require(next_line(), file_.path, ": is empty, expected the number of graphs");
    check(fields_.size() == 1, "there are ", fields_.size(), " fields, expected 1: the number of graphs");
    const std::int32_t count = number(0, "the number of graphs", 1);
    Graphs graphs;
    graphs.first_node.push_back(0);
    graphs.first_neighbour.push_back(0);
    for (std::int32_t g = 0; g < count; ++g) read_graph(graphs, g, count);
    while (next_line()) check(fields_.empty(), "the file continues after the last of ", count, " graphs");
    graphs.label_values = renumber(graphs.labels);
    graphs.tag_values = renumber(graphs.tags);
    return graphs;
  }

 private:
  static constexpr std::int32_t lowest = -2147483647 - 1;

  // Splits the next line into fields; returns false at the end of the file.
  bool next_line() {
    std::string_view line;
    if (!lines_.next(line)) return false;
    fields_.clear();
    for (std::size_t at = 0; (at = line.find_first_not_of(" \t", at)) != std::string_view::npos;) {
      const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
      fields_.push_back(line.substr(at, end - at));
      at = end;
    }
    return true;
  }
  template <class... Parts>
  void check(bool good, const Parts&... parts) const {
    require(good, file_.path, ":", lines_.number(), ": ", parts...);
  }

  std::int32_t number(std::size_t i, const char* what, std::int32_t least) const {
    std::int32_t n = 0;
    const char* const last = fields_[i].data() + fields_[i].size();
    const auto [end, error] = std::from_chars(fields_[i].data(), last, n);
    if (error == std::errc{} && end == last && n >= least) return n;
    fail(file_.path, ":", lines_.number(), ": ", what, " is ", in_quotes(fields_[i]), ", expected a 32-bit integer",
         least == lowest ? "" : " of at least " + std::to_string(least));
  }

  void read_graph(Graphs& graphs, std::int32_t g, std::int32_t count) {
    require(next_line(), file_.path, ": ends after line ", lines_.number(), ", expected ", count, " graphs and found ",
            g);
    check(fields_.size() == 2, "there are ", fields_.size(), " fields, expected 2: nodes and label of graph ", g);
    const std::int32_t nodes = number(0, "the number of nodes", 1);
    graphs.labels.push_back(number(1, "the label", lowest));
    for (std::int32_t v = 0; v < nodes; ++v) {
      require(next_line(), file_.path, ": ends after line ", lines_.number(), ", expected ", nodes, " nodes of graph ",
              g, " and found ", v);
      read_node(graphs, nodes);
    }
    graphs.first_node.push_back(graphs.tags.size());
  }

  void read_node(Graphs& graphs, std::int32_t nodes) {
    constexpr std::size_t before = 2;
    check(fields_.size() >= before, "there are ", fields_.size(),
          " fields, expected a tag and the number of neighbours");
    graphs.tags.push_back(number(0, "the tag", lowest));
    const std::size_t degree = static_cast<std::size_t>(number(1, "the number of neighbours", 0));
    check(fields_.size() == before + degree, "there are ", fields_.size(), " fields, expected ", before + degree,
          ": a tag, the number of neighbours and ", degree, " neighbours");
    for (std::size_t i = before; i < fields_.size(); ++i) {
      const std::int32_t neighbour = number(i, "a neighbour", 0);
      check(neighbour < nodes, "a neighbour is ", neighbour, ", expected [0, ", nodes, ")");
      graphs.neighbours.push_back(static_cast<std::uint32_t>(neighbour));
    }
    graphs.first_neighbour.push_back(graphs.neighbours.size());
  }

  // Replaces each value by its index among the distinct values in ascending order, which are returned.
  static std::vector<std::int32_t> renumber(std::vector<std::int32_t>& numbers) {
    std::vector<std::int32_t> values = numbers;
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    for (std::int32_t& n : numbers)
      n = static_cast<std::int32_t>(std::lower_bound(values.begin(), values.end(), n) - values.begin());
    return values;
  }

  Unpacked file_;
  Lines lines_;
  std::vector<std::string_view> fields_;
};

}  // namespace detail

// Reads `path`, or `path`.gz if `path` does not exist. Labels and tags are any 32-bit integers. Throws Error with
// path:line if the number of fields differs from the preceding counts, a field is not an integer, a neighbour is
// outside the graph, or the file ends early or continues after the last graph. Memory use is bounded by the file's
// contents, not by the counts it declares.
inline Graphs load_graphs(const std::string& path, std::uint64_t limit = GzFile::default_limit) {
  return detail::GraphsReader(path, limit).read();
}

}  // namespace algoperf
