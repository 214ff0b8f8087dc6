// Graph networks against torch (make_graph_network.py), mean average precision, and the workload of NCI1.
#include <doctest/doctest.h>

#include <algoperf/algoperf.hpp>
#include <algoperf/nn/metrics/error_rate.hpp>
#include <algoperf/workloads/tu_graphs.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "../golden/graph_network.hpp"
#include "../support/check_error.hpp"
#include "../support/data_path.hpp"
#include "../support/folder.hpp"
#include "../support/near.hpp"
#include "../support/reproducible.hpp"
#include "../support/sentence.hpp"

namespace algoperf::testing::of_tu_graphs {

static_assert(Workload<Nci1>);
static_assert(parameters_of(TuGraphNetwork::model(38)) ==
              39 * 32 + 2 * 32 + 3 * (3 * 64 + 3 * 32) + 33 + (96 + 96 + 64 + 2 * (128 + 128 + 96)) * 32);

// The graphs of make_graph_network.py.
const std::vector<std::uint32_t> nodes{4, 1, 3, 6}, edges{5, 0, 2, 9};
auto golden_graphs() {
  std::vector<double> of_nodes, of_edges, weights;
  std::vector<std::int32_t> senders, receivers, labels;
  for (int i = 0; i < 14 * 3; ++i) of_nodes.push_back(std::sin(0.1 + 0.37 * i));
  for (int i = 0; i < 16 * 2; ++i) of_edges.push_back(std::cos(0.2 + 0.53 * i));
  for (std::size_t g = 0, i = 0; g < nodes.size(); ++g)
    for (std::size_t k = 0; k < edges[g]; ++k, ++i) {
      senders.push_back(static_cast<std::int32_t>((3 * i + 1) % nodes[g]));
      receivers.push_back(static_cast<std::int32_t>((5 * i + 2) % nodes[g]));
    }
  for (int i = 0; i < 8; ++i) {
    labels.push_back(i % 3 == 0 ? 1 : 0);
    weights.push_back(i % 4 == 1 ? 0 : 1);
  }
  return InMemoryFields<Field<"nodes", double>, Field<"edges", double>, Field<"senders", std::int32_t>,
                        Field<"receivers", std::int32_t>, Field<"label", std::int32_t>, Field<"weight", double>>(
      {{"nodes", nodes}, {"edges", edges}}, {of_nodes, {3}, "nodes"}, {of_edges, {2}, "edges"}, {senders, {1}, "edges"},
      {receivers, {1}, "edges"}, {labels, {2}}, {weights, {2}});
}
constexpr GraphNetwork<> small{
    .node_features = 3, .edge_features = 2, .tasks = 2, .latent = 4, .hidden = 4, .steps = 2, .dropout = 0};
constexpr GraphNetwork<Silu> deep{.node_features = 3,
                                  .edge_features = 2,
                                  .tasks = 2,
                                  .latent = 3,
                                  .hidden = 5,
                                  .layers = 2,
                                  .steps = 2,
                                  .dropout = 0};

TEST_CASE("graph network: losses, gradients and steps of AdamW are torch's, with labels missing") {
  const auto check = [](const auto& model, const golden::Model& expected) {
    golden::check(model, Weighted{SigmoidCrossEntropy{}}, golden_graphs(), expected);
  };
  check(small, golden::graph_network);
  check(
      GraphNetwork<GeluTanh>{
          .node_features = 3, .edge_features = 2, .tasks = 2, .latent = 3, .hidden = 3, .steps = 2, .dropout = 0},
      golden::graph_network_gelu);
  check(deep, golden::graph_network_model_size);
}

TEST_CASE("graph network: gradients agree with differences, also with graphs that have no nodes or no edges") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    INFO("seed ", seed);
    check_error(gradient_check(small, SigmoidCrossEntropy{}, {.batch = 4, .samples = 12, .seed = seed}));
    check_error(gradient_check(deep, SigmoidCrossEntropy{}, {.batch = 4, .samples = 12, .seed = seed}));
  }
}

// Random graphs whose class is whether they have more edges than nodes.
GraphFields random_graphs(std::size_t n) {
  Graphs graphs;
  graphs.first_node.push_back(0);
  graphs.first_neighbour.push_back(0);
  graphs.tag_values = {0, 1, 2};
  graphs.label_values = {0, 1};
  for (std::size_t g = 0; g < n; ++g) {
    RandomStream random(RandomKey{g});
    const std::uint32_t count = 1 + random.below(8), of_all = random.below(3);
    for (std::uint32_t v = 0; v < count; ++v) {
      graphs.tags.push_back(static_cast<std::int32_t>(random.below(3)));
      const std::uint32_t degree = random.below(1 + of_all);
      for (std::uint32_t i = 0; i < degree; ++i) graphs.neighbours.push_back(random.below(count));
      graphs.first_neighbour.push_back(graphs.neighbours.size());
    }
    const std::size_t of_graph = graphs.neighbours.size() - graphs.first_neighbour[graphs.first_node.back()];
    graphs.first_node.push_back(graphs.tags.size());
    graphs.labels.push_back(of_graph > count ? 1 : 0);
  }
  return graph_fields(graphs);
}

TEST_CASE("graph network: threads and prefetching change no bit, and a resumed run continues with the same bits") {
  const GraphFields data = random_graphs(200);
  const GraphNetwork<> model{.node_features = 4, .latent = 8, .hidden = 8, .steps = 2};
  const auto learner = [&](const auto&... tail) {
    return TrainingLoop(model, SigmoidCrossEntropy{}, adamw(), Constant{0.01}, ShuffledEpochs{.batch = 16}, tail...);
  };
  check_reproducible(learner, data, 15);
  auto loop = learner();
  loop.run(data, UntilStep{120});
  CHECK(loop.evaluate(data, MeanAveragePrecision{}).metric > 0.95);
}

struct GatheredGraphs {
  std::vector<float> reals[2];
  std::vector<std::int32_t> tokens[3];
  struct To {
    GatheredGraphs& rows;
    template <FieldName name>
    auto* at() const {
      constexpr std::size_t place = GraphFields::Fields::find(name);
      if constexpr (place < 2)
        return rows.reals[place].data();
      else
        return rows.tokens[place - 2].data();
    }
  };
};

TEST_CASE("graph fields: features, edges and their order") {
  const Folder folder;
  folder.write("g", "2\n3 7\n5 2 1 2\n4 1 0\n5 0\n1 3\n4 0\n");
  const Graphs graphs = load_graphs(folder / "g");
  const GraphFields data = graph_fields(graphs, {1, 0});
  REQUIRE(data.size() == 2);
  CHECK(data.rows("nodes", 0) == 1);
  CHECK(data.rows("edges", 0) == 0);
  CHECK(data.rows("nodes", 1) == 3);
  CHECK(data.rows("edges", 1) == 3);
  CHECK(data.axis("nodes") == "nodes");
  CHECK(data.axis("senders") == "edges");
  CHECK(data.axis("label").empty());
  GatheredGraphs rows{{std::vector<float>(12), std::vector<float>(3)},
                      {std::vector<std::int32_t>(3), std::vector<std::int32_t>(3), std::vector<std::int32_t>(2)}};
  const std::uint32_t both[] = {0, 1};
  data.gather(both, 2, GatheredGraphs::To{rows});
  CHECK(rows.reals[0] == std::vector<float>{1, 0, 0, 0, 1, 2, 1, 0, 1, 0, 1, 0});  // tags 4 and 5, then the degree
  CHECK(rows.reals[1] == std::vector<float>{1, 1, 1});
  CHECK(rows.tokens[0] == std::vector<std::int32_t>{0, 0, 1});
  CHECK(rows.tokens[1] == std::vector<std::int32_t>{1, 2, 0});
  CHECK(rows.tokens[2] == std::vector<std::int32_t>{0, 1});
  CHECK(sentence([&] { graph_fields(graphs, {2}); }) == "graph_fields: the order has graph 2, expected [0, 2)");
}

TEST_CASE("graphs: what does not fit is named") {
  const auto checked = [](const auto& change) {
    Graphs graphs{.labels = {0, 1},
                  .label_values = {0, 1},
                  .first_node = {0, 2, 3},
                  .tags = {0, 1, 1},
                  .tag_values = {4, 5},
                  .first_neighbour = {0, 1, 2, 2},
                  .neighbours = {1, 0}};
    change(graphs);
    return sentence([&] { graph_fields(graphs); });
  };
  CHECK(checked([](Graphs&) {}).empty());
  CHECK(checked([](Graphs& g) { g.first_node.pop_back(); }) ==
        "Graphs: there are 2 labels, 3 tags, 2 entries of first_node and 4 of first_neighbour, expected one more entry "
        "than labels and than tags");
  CHECK(checked([](Graphs& g) { g.first_node = {0, 3, 2}; }) == "Graphs: first_node does not ascend from 0 to 3");
  CHECK(checked([](Graphs& g) {
          g.first_neighbour = {1, 1, 2, 2};
        }) == "Graphs: first_neighbour does not ascend from 0 to 2");
  CHECK(checked([](Graphs& g) { g.labels[1] = 2; }) == "Graphs: the label of graph 1 is 2, expected [0, 2)");
  CHECK(checked([](Graphs& g) { g.tags[2] = -1; }) == "Graphs: the tag of node 2 is -1, expected [0, 2)");
  CHECK(checked([](Graphs& g) { g.neighbours[1] = 2; }) == "Graphs: neighbour 1 is 2, but graph 0 has 2 nodes");
}

// The scores of make_graph_network.py: 12 examples of three tasks, the last with labels of one class only.
TEST_CASE("mean average precision: sklearn's, with ties, weights, missing labels and a task of one class") {
  const std::size_t n = 12;
  std::vector<double> scores, weights;
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < n; ++i) {
    scores.insert(scores.end(), {static_cast<double>(7 * i % 5) / 4, static_cast<double>(5 * i % 11) / 3,
                                 static_cast<double>(i) / 7});
    labels.insert(labels.end(), {i % 3 == 0 ? 1 : 0, i * i % 7 < 3 ? 1 : 0, 1});
    weights.insert(weights.end(), {1.0 + static_cast<double>(i % 2), i % 4 != 2 ? 1.0 : 0.0, 1.0});
  }
  MeanAveragePrecision metric;
  MeanAveragePrecision::State state;
  const auto add = [&](std::size_t first, std::size_t count) {
    metric.add(state, EvaluatedRows<double, std::int32_t>{3 * count,
                                                          1,
                                                          scores.data() + 3 * first,
                                                          labels.data() + 3 * first,
                                                          weights.data() + 3 * first,
                                                          count,
                                                          {3},
                                                          {3}});
  };
  add(0, 5);
  add(5, 7);
  CHECK(metric.value(state) == near(golden::mean_average_precision, 1e-14));
  CHECK(sentence([&] { metric.value({}); }) == "MeanAveragePrecision: no task has labels of both classes");
  scores[0] = NAN;
  add(0, 1);
  CHECK(std::isnan(metric.value(state)));
  CHECK(sentence([&] {
          metric.add(state, EvaluatedRows<double, std::int32_t>{1, 2, scores.data(), labels.data()});
        }) == "MeanAveragePrecision: the model has 2 outputs per row, expected 1: a row per task");
}

TEST_CASE("graphs of the TU collection: the real graphs, and the variants") {
  CHECK(sentence([] { Nci1{.data = "/nonexistent"}.train(); }).find("/nonexistent/graphs/NCI1.txt") !=
        std::string::npos);
  std::set<std::string> names;
  Nci1{}.each_variant([&](const auto& variant) { names.insert(variant.name); });
  CHECK(names == std::set<std::string>{"nci1_gnn_gelu", "nci1_gnn_silu", "nci1_gnn_model_size"});
  const std::string folder = data_path("graphs");
  if (folder.empty()) return;
  const Nci1 task{.data = folder + "/.."};
  CHECK(task.train().size() == 3290);
  CHECK(task.validation().size() == 410);
  CHECK(task.test().size() == 410);
  const auto nodes_of = [](const auto& data) {
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < data.size(); ++i) rows.push_back(data.rows("nodes", i));
    return rows;
  };
  CHECK(nodes_of(task.validation()) != nodes_of(task.test()));
  const Proteins proteins{.data = folder + "/.."};
  CHECK(proteins.train().size() == 893);
  CHECK(proteins.validation().size() == 110);
  const Mutag mutag{.data = folder + "/.."};
  CHECK(mutag.train().size() == 152);
  CHECK(mutag.test().size() == 18);
  CHECK(mutag.name == "mutag_gnn");
  TrainingLoop loop(task.model(), task.loss(), adamw(), Constant{3e-3}, ShuffledEpochs{.batch = 16});
  loop.run(task.train(), UntilStep{80});
  CHECK(loop.evaluate(task.validation().subset(0, 150), task.metric()).metric > 0.6);
}

}  // namespace algoperf::testing::of_tu_graphs
