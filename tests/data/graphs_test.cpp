#include "algoperf/data/readers/graphs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "files.hpp"

namespace ap = algoperf;
using Numbers = std::vector<std::int32_t>;
using Sizes = std::vector<std::size_t>;

namespace {

// A triangle with a tail, and a graph of two nodes without edges.
const std::string two_graphs =
    "2\n"
    "4 7\n"
    "3 2 1 2\n"
    "3 2 0 2\n"
    "5 3 0 1 3\n"
    "-1 1 2\n"
    "2 -1\r\n"
    "5 0\r\n"
    "3 0";

// Writes a file `f` in a temporary folder and reads it.
struct GraphsFile {
  GraphsFile() : f(folder / "f") {}
  std::string error(const std::string& bytes) const {
    folder.write("f", bytes);
    return sentence([&] { ap::load_graphs(f); });
  }
  Folder folder;
  std::string f;
};

}  // namespace

TEST_CASE("graphs become rows of neighbours; labels and tags are numbered in ascending order") {
  const Folder folder;
  for (const bool zip : {false, true}) {
    const std::string path = zip ? write_gzipped(folder, "f", two_graphs) : folder.write("f", two_graphs);
    const ap::Graphs graphs = ap::load_graphs(path);
    CHECK(graphs.size() == 2);
    CHECK(graphs.labels == Numbers{1, 0});
    CHECK(graphs.label_values == Numbers{-1, 7});
    CHECK(graphs.first_node == Sizes{0, 4, 6});
    CHECK(graphs.nodes(0) == 4);
    CHECK(graphs.nodes(1) == 2);
    CHECK(graphs.tags == Numbers{1, 1, 2, 0, 2, 1});
    CHECK(graphs.tag_values == Numbers{-1, 3, 5});
    CHECK(graphs.first_neighbour == Sizes{0, 2, 4, 7, 8, 8, 8});
    CHECK(graphs.neighbours == std::vector<std::uint32_t>{1, 2, 0, 2, 0, 1, 3, 2});
  }
  CHECK(ap::load_graphs(folder.write("f", "1\n1 0\n\t0   0 \n\n \n")).neighbours.empty());
}

TEST_CASE("an invalid file of graphs is refused with the line") {
  const GraphsFile file;
  const std::string& f = file.f;
  CHECK(sentence([&] { ap::load_graphs(f); }) ==
        f + ": cannot be opened, nor can " + f + ".gz (No such file or directory)");
  CHECK(file.error("") == f + ": is empty, expected the number of graphs");
  CHECK(file.error("1 2\n") == f + ":1: there are 2 fields, expected 1: the number of graphs");
  CHECK(file.error("\n1\n") == f + ":1: there are 0 fields, expected 1: the number of graphs");
  CHECK(file.error("x\n") == f + ":1: the number of graphs is \"x\", expected a 32-bit integer of at least 1");
  CHECK(file.error("0\n") == f + ":1: the number of graphs is \"0\", expected a 32-bit integer of at least 1");
  CHECK(file.error("2147483648\n") ==
        f + ":1: the number of graphs is \"2147483648\", expected a 32-bit integer of at least 1");
  CHECK(file.error("2\n1 0\n0 0\n") == f + ": ends after line 3, expected 2 graphs and found 1");
  CHECK(file.error("1\n2\n") == f + ":2: there are 1 fields, expected 2: nodes and label of graph 0");
  CHECK(file.error("1\n0 1\n") == f + ":2: the number of nodes is \"0\", expected a 32-bit integer of at least 1");
  CHECK(file.error("1\n1 1.5\n") == f + ":2: the label is \"1.5\", expected a 32-bit integer");
  CHECK(file.error("1\n2 0\n0 0\n") == f + ": ends after line 3, expected 2 nodes of graph 0 and found 1");
  CHECK(file.error("1\n1 0\n0\n") == f + ":3: there are 1 fields, expected a tag and the number of neighbours");
  CHECK(file.error("1\n1 0\na 0\n") == f + ":3: the tag is \"a\", expected a 32-bit integer");
  CHECK(file.error("1\n1 0\n0 -1\n") ==
        f + ":3: the number of neighbours is \"-1\", expected a 32-bit integer of at least 0");
  CHECK(file.error("1\n1 0\n0 2 0\n") ==
        f + ":3: there are 3 fields, expected 4: a tag, the number of neighbours and 2 neighbours");
  CHECK(file.error("1\n1 0\n0 1 0 0.5\n") ==
        f + ":3: there are 4 fields, expected 3: a tag, the number of neighbours and 1 neighbours");
  CHECK(file.error("1\n2 0\n0 1 1\n0 1 2\n") == f + ":4: a neighbour is 2, expected [0, 2)");
  CHECK(file.error("1\n2 0\n0 1 -1\n0 0\n") ==
        f + ":3: a neighbour is \"-1\", expected a 32-bit integer of at least 0");
  CHECK(file.error("1\n1 0\n0 0\n\n1 0\n") == f + ":5: the file continues after the last of 1 graphs");
}

TEST_CASE("huge declared counts allocate no memory") {
  const GraphsFile file;
  CHECK(file.error("2147483647\n2147483647 0\n0 2147483647 1\n") ==
        file.f +
            ":3: there are 3 fields, expected 2147483649: a tag, the number of neighbours and 2147483647 neighbours");
  CHECK(file.error("2147483647\n2147483647 0\n0 0\n") ==
        file.f + ": ends after line 3, expected 2147483647 nodes of graph 0 and found 1");
}

// The expected counts come from a short Python script over the same files.
TEST_CASE("the MUTAG, NCI1 and PROTEINS data sets") {
  const std::string folder = data_path("graphs");
  if (folder.empty()) return;
  struct Counts {
    const char* name;
    std::size_t graphs, first_class, nodes, entries, tags, largest;
  };
  for (const Counts& counts :
       {Counts{"MUTAG", 188, 63, 3371, 7442, 7, 28}, Counts{"NCI1", 4110, 2053, 122747, 265506, 37, 111},
        Counts{"PROTEINS", 1113, 663, 43471, 162088, 3, 620}}) {
    CAPTURE(counts.name);
    const ap::Graphs graphs = ap::load_graphs(folder + "/" + counts.name + ".txt");
    CHECK(graphs.size() == counts.graphs);
    CHECK(graphs.label_values.size() == 2);
    std::size_t first = 0, largest = 0, one_way = 0;
    for (std::size_t g = 0; g < graphs.size(); ++g) {
      first += graphs.labels[g] == 0;
      largest = std::max(largest, graphs.nodes(g));
      const auto has = [&](std::size_t from, std::size_t to) {
        const std::size_t v = graphs.first_node[g] + from;
        for (std::size_t i = graphs.first_neighbour[v]; i < graphs.first_neighbour[v + 1]; ++i)
          if (graphs.neighbours[i] == to) return true;
        return false;
      };
      for (std::size_t a = 0; a < graphs.nodes(g); ++a) {
        const std::size_t v = graphs.first_node[g] + a;
        for (std::size_t i = graphs.first_neighbour[v]; i < graphs.first_neighbour[v + 1]; ++i)
          one_way += !has(graphs.neighbours[i], a);
      }
    }
    CHECK(first == counts.first_class);
    CHECK(largest == counts.largest);
    CHECK(one_way == 0);  // every edge is listed at both its ends
    CHECK(graphs.tags.size() == counts.nodes);
    CHECK(graphs.neighbours.size() == counts.entries);
    CHECK(graphs.tag_values.size() == counts.tags);
  }
  CHECK(ap::load_graphs(folder + "/MUTAG.txt").label_values == Numbers{0, 2});
}
