#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "../core/random.hpp"
#include "../core/tuple.hpp"
#include "../data/graph_fields.hpp"
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

struct Nci1GraphNetworkGelu;
struct Nci1GraphNetworkSilu;
struct Nci1GraphNetworkModelSize;

// A graph network of three steps with 32 hidden units, and its variants, with AlgoPerf's names. AdamW reaches
// target_precision within step_hint() steps (benchmarks/workloads_to_target.cpp).
struct Nci1GraphNetwork {
  static constexpr const char* name = "gnn";
  using Variants = Tuple<Nci1GraphNetworkGelu, Nci1GraphNetworkSilu, Nci1GraphNetworkModelSize>;
  static constexpr double target_precision = 0.88;
  static constexpr GraphNetwork<> model() { return {.node_features = 38}; }
};
struct Nci1GraphNetworkGelu : Nci1GraphNetwork {
  using Base = Nci1GraphNetwork;
  static constexpr const char* variant = "gelu";
  static constexpr GraphNetwork<GeluTanh> model() { return {.node_features = 38}; }
};
struct Nci1GraphNetworkSilu : Nci1GraphNetwork {
  using Base = Nci1GraphNetwork;
  static constexpr const char* variant = "silu";
  static constexpr GraphNetwork<Silu> model() { return {.node_features = 38}; }
};
// Fewer elements before the first step, and two dense layers in each MLP.
struct Nci1GraphNetworkModelSize : Nci1GraphNetwork {
  using Base = Nci1GraphNetwork;
  static constexpr const char* variant = "model_size";
  static constexpr GraphNetwork<> model() { return {.node_features = 38, .latent = 16, .layers = 2}; }
};

// AlgoPerf's ogbg in miniature, on the molecules of NCI1 in `data`/graphs/NCI1.txt, plain or gzipped: whether a
// compound is active against lung cancer (Wale et al. 2008). 4,110 graphs with 30 nodes and 65 edges on average, in a
// random order that is always the same: 3,290 for training, 410 for validation and 410 for testing. Departures from
// AlgoPerf: one task without missing labels instead of 128 tasks, and nodes whose features are a one-hot tag and the
// degree.
template <class Network>
struct Nci1Workload {
  std::string name = "nci1_" + detail::network_name<Network>();
  std::string base = "nci1_" + detail::base_network_name<Network>();
  std::string data = data_root();
  double target_precision = Network::target_precision;
  detail::SharedData<GraphFields> graphs = {};

  auto model() const { return Network::model(); }
  SigmoidCrossEntropy loss() const { return {}; }
  MeanAveragePrecision metric() const { return {}; }
  Target target() const { return {target_precision, false}; }
  std::uint64_t step_hint() const { return 3000; }
  Slice<GraphFields> train() const { return load().subset(0, 3290); }
  Slice<GraphFields> validation() const { return load().subset(3290, 3700); }
  Slice<GraphFields> test() const { return load().subset(3700, load().size()); }
  template <class Visit>
  void each_variant(const Visit& visit) const {
    detail::each_variant<Network>([&]<class V>() { visit(Nci1Workload<V>{.data = data}); });
  }

 private:
  const GraphFields& load() const {
    const std::string path = data + "/graphs/NCI1.txt";
    return graphs("graph fields, " + path, [&] {
      const Graphs found = load_graphs(path);
      require(found.size() == 4110 && found.tag_values.size() == 37, path, ": there are ", found.size(),
              " graphs with ", found.tag_values.size(), " tags, expected NCI1's 4110 graphs with 37 tags");
      std::vector<std::size_t> order(found.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      RandomStream random(RandomKey{1});
      for (std::size_t i = order.size(); i > 1; --i)
        std::swap(order[i - 1], order[random.below(static_cast<std::uint32_t>(i))]);
      return graph_fields(found, std::move(order));
    });
  }
};

using Nci1 = Nci1Workload<Nci1GraphNetwork>;

}  // namespace algoperf
