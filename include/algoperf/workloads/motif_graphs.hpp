#pragma once

#include <cstdint>
#include <string>

#include "../data/graph_fields.hpp"
#include "../data/slice.hpp"
#include "../data/synthetic/motif_graphs.hpp"
#include "../nn/losses/sigmoid_cross_entropy.hpp"
#include "../nn/metrics/mean_average_precision.hpp"
#include "../nn/models/graph_network.hpp"
#include "concept.hpp"
#include "shared_data.hpp"

namespace algoperf {

// The model of Nci1 on synthetic graphs (MotifGraphs): 4,000 for training, 500 for validation and 500 for testing. The
// metric is the average precision on the validation graphs. The target is 0.99; the optimum is 1.
struct MotifGraphSearch {
  std::string name = "motif_graphs_gnn";
  double target_precision = 0.99;
  detail::SharedData<GraphFields> graphs = {};

  GraphNetwork<> model() const { return {.node_features = 5}; }
  SigmoidCrossEntropy loss() const { return {}; }
  MeanAveragePrecision metric() const { return {}; }
  Target target() const { return {target_precision, false}; }
  std::uint64_t step_hint() const { return 500; }
  Slice<GraphFields> train() const { return load().subset(0, 4000); }
  Slice<GraphFields> validation() const { return load().subset(4000, 4500); }
  Slice<GraphFields> test() const { return load().subset(4500, 5000); }

 private:
  const GraphFields& load() const {
    return graphs("motif graphs", [] { return graph_fields(MotifGraphs{.count = 5000}.draw()); });
  }
};

}  // namespace algoperf
