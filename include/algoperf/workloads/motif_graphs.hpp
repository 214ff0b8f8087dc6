#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../core/random.hpp"
#include "../data/graph_fields.hpp"
#include "../data/slice.hpp"
#include "../data/synthetic/motif_graphs.hpp"
#include "../nn/losses/sigmoid_cross_entropy.hpp"
#include "../nn/losses/weighted.hpp"
#include "../nn/metrics/mean_average_precision.hpp"
#include "../nn/models/graph_network.hpp"
#include "concept.hpp"
#include "shared_data.hpp"

namespace algoperf {

// AlgoPerf's ogbg in miniature, without a download: a graph network as in Nci1 predicts four binary labels per graph
// (motif_labels). Each label is missing with probability 1/4. 4,000 synthetic graphs (MotifGraphs) are for training,
// 500 for validation and 500 for testing. The metric is the mean average precision over the tasks. The target is 0.99;
// the optimum is 1. Departures from AlgoPerf: four tasks instead of 128, and nodes whose features are a one-hot tag and
// the degree.
struct MotifGraphSearch {
  std::string name = "motif_tasks_gnn";
  double target_precision = 0.99;
  detail::SharedData<GraphTaskFields> graphs = {};

  GraphNetwork<> model() const { return {.node_features = 5, .tasks = motif_tasks}; }
  Weighted<SigmoidCrossEntropy> loss() const { return {}; }
  MeanAveragePrecision metric() const { return {}; }
  Target target() const { return {target_precision, false}; }
  std::uint64_t step_hint() const { return 800; }
  Slice<GraphTaskFields> train() const { return load().subset(0, 4000); }
  Slice<GraphTaskFields> validation() const { return load().subset(4000, 4500); }
  Slice<GraphTaskFields> test() const { return load().subset(4500, 5000); }

 private:
  const GraphTaskFields& load() const {
    return graphs("motif graphs", [] {
      const Graphs drawn = MotifGraphs{.count = 5000}.draw();
      std::vector<std::int32_t> labels = motif_labels(drawn);
      std::vector<float> weights(labels.size());
      RandomStream random(RandomKey{1});
      for (float& weight : weights) weight = random.below(4) == 0 ? 0 : 1;
      return graph_task_fields(drawn, std::move(labels), std::move(weights));
    });
  }
};

}  // namespace algoperf
