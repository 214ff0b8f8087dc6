#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../core/random.hpp"
#include "../core/tuple.hpp"
#include "../data/graph_fields.hpp"
#include "../data/readers/graphs.hpp"
#include "../data/slice.hpp"
#include "../nn/layers/gelu.hpp"
#include "../nn/layers/silu.hpp"
#include "../nn/losses/sigmoid_cross_entropy.hpp"
#include "../nn/metrics/mean_average_precision.hpp"
#include "../nn/models/graph_network.hpp"
#include "concept.hpp"
#include "data_root.hpp"
#include "shared_data.hpp"
#include "variants.hpp"

namespace algoperf {

struct TuGraphNetworkGelu;
struct TuGraphNetworkSilu;
struct TuGraphNetworkModelSize;

// A graph network with three message-passing steps and 32 hidden units, and its variants, with AlgoPerf's names.
struct TuGraphNetwork {
  static constexpr const char* name = "gnn";
  template <class DataSet>
  static constexpr double target_precision = DataSet::target_precision;
  using Variants = Tuple<TuGraphNetworkGelu, TuGraphNetworkSilu, TuGraphNetworkModelSize>;
  static constexpr GraphNetwork<> model(std::size_t node_features) { return {.node_features = node_features}; }
};
struct TuGraphNetworkGelu : TuGraphNetwork {
  using Base = TuGraphNetwork;
  static constexpr const char* variant = "gelu";
  static constexpr GraphNetwork<GeluTanh> model(std::size_t node_features) { return {.node_features = node_features}; }
};
struct TuGraphNetworkSilu : TuGraphNetwork {
  using Base = TuGraphNetwork;
  static constexpr const char* variant = "silu";
  static constexpr GraphNetwork<Silu> model(std::size_t node_features) { return {.node_features = node_features}; }
};
// Half the latent width of nodes and edges (16), and two dense layers per MLP.
struct TuGraphNetworkModelSize : TuGraphNetwork {
  using Base = TuGraphNetwork;
  static constexpr const char* variant = "model_size";
  template <class DataSet>
  static constexpr double target_precision = DataSet::model_size_precision;
  static constexpr GraphNetwork<> model(std::size_t node_features) {
    return {.node_features = node_features, .latent = 16, .layers = 2};
  }
};

// Data sets. AdamW reaches target_precision within step_hint steps (benchmarks/workloads_to_target.cpp).
//   Nci1Graphs: whether a compound is active against lung cancer (Wale et al. 2008), 30 nodes and 65 edges on average
//   ProteinsGraphs: whether a protein is an enzyme (Borgwardt et al. 2005)
//   MutagGraphs: whether a compound is mutagenic (Debnath et al. 1991); few graphs, so its metric is coarse
struct Nci1Graphs {
  static constexpr const char *name = "nci1", *file = "NCI1";
  static constexpr std::size_t graphs = 4110, tags = 37;
  static constexpr double target_precision = 0.88, model_size_precision = 0.85;
  static constexpr std::uint64_t step_hint = 3000;
};
struct ProteinsGraphs {
  static constexpr const char *name = "proteins", *file = "PROTEINS";
  static constexpr std::size_t graphs = 1113, tags = 3;
  static constexpr double target_precision = 0.79, model_size_precision = 0.79;
  static constexpr std::uint64_t step_hint = 1000;
};
struct MutagGraphs {
  static constexpr const char *name = "mutag", *file = "MUTAG";
  static constexpr std::size_t graphs = 188, tags = 7;
  static constexpr double target_precision = 0.98, model_size_precision = 0.98;
  static constexpr std::uint64_t step_hint = 300;
};

// AlgoPerf's ogbg in miniature, on graphs of the TU collection (Morris et al. 2020, arXiv:2007.08663) in
// `data`/graphs/<file>.txt, plain or gzipped, in a random order that is always the same: about 80 % for training, 10 %
// for validation and 10 % for testing. Departures from AlgoPerf: one task without missing labels instead of 128 tasks
// (MotifGraphSearch has four, with missing labels), and nodes whose features are a one-hot tag and the degree.
template <class Network, class DataSet>
struct TuGraphWorkload {
  std::string name = DataSet::name + ("_" + detail::network_name<Network>());
  std::string base = DataSet::name + ("_" + detail::base_network_name<Network>());
  std::string data = data_root();
  double target_precision = Network::template target_precision<DataSet>;
  detail::SharedData<GraphFields> graphs = {};

  auto model() const { return Network::model(DataSet::tags + 1); }
  SigmoidCrossEntropy loss() const { return {}; }
  MeanAveragePrecision metric() const { return {}; }
  Target target() const { return {target_precision, false}; }
  std::uint64_t step_hint() const { return DataSet::step_hint; }
  Slice<GraphFields> train() const { return load().subset(0, DataSet::graphs - 2 * held_out); }
  Slice<GraphFields> validation() const { return part(2); }
  Slice<GraphFields> test() const { return part(1); }
  template <class Visit>
  void each_variant(const Visit& visit) const {
    detail::each_variant<Network>([&]<class V>() { visit(TuGraphWorkload<V, DataSet>{.data = data}); });
  }

 private:
  static constexpr std::size_t held_out = DataSet::graphs / 20 * 2;

  // Splits the graphs into blocks of `held_out`, counted from the end. Returns block `back`; block 1 is the last.
  Slice<GraphFields> part(std::size_t back) const {
    const std::size_t begin = DataSet::graphs - back * held_out;
    return load().subset(begin, begin + held_out);
  }
  const GraphFields& load() const {
    const std::string path = data + "/graphs/" + DataSet::file + ".txt";
    return graphs("graph fields, " + path, [&] {
      const Graphs found = load_graphs(path);
      require(found.size() == DataSet::graphs && found.tag_values.size() == DataSet::tags, path, ": there are ",
              found.size(), " graphs with ", found.tag_values.size(), " tags, expected the ", DataSet::graphs,
              " graphs of ", DataSet::file, " with ", DataSet::tags, " tags");
      std::vector<std::size_t> order(found.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      RandomStream random(RandomKey{1});
      for (std::size_t i = order.size(); i > 1; --i)
        std::swap(order[i - 1], order[random.below(static_cast<std::uint32_t>(i))]);
      return graph_fields(found, order);
    });
  }
};

using Nci1 = TuGraphWorkload<TuGraphNetwork, Nci1Graphs>;
using Proteins = TuGraphWorkload<TuGraphNetwork, ProteinsGraphs>;
using Mutag = TuGraphWorkload<TuGraphNetwork, MutagGraphs>;

}  // namespace algoperf
