#pragma once

#include <cstddef>

#include "../graph/recorder.hpp"
#include "../layers/dense.hpp"
#include "../layers/dropout.hpp"
#include "../layers/layer_norm.hpp"
#include "../layers/relu.hpp"
#include "../ops/concat.hpp"
#include "../ops/gather_rows.hpp"
#include "../ops/pool_rows.hpp"
#include "../ops/repeat_rows.hpp"
#include "../ops/segment_sum.hpp"

namespace algoperf {

// A graph network: predicts properties of graphs, such as molecules. Each step updates every edge, then every node,
// then the state of the graph:
//   edge_k  = mlp(edge_k, node of its sender, node of its receiver, graph)
//   node_i  = mlp(node_i, sum of the edges that it sends, sum of those that it receives, graph)
//   graph   = mlp(sum of nodes, sum of edges, graph)
// where mlp is a dense layer, a layer norm, an activation and dropout, `layers` times. A model function of the fields
// "nodes" and "edges", features on ragged axes of the same names, and "senders" and "receivers", the nodes of each
// edge. An undirected edge is two edges. The outputs are the logits of `tasks` binary decisions per graph, one per row
// of the axis "tasks": for SigmoidCrossEntropy, or Weighted{SigmoidCrossEntropy{}} with weight 0 where a label is
// missing.
//   TrainingLoop loop(GraphNetwork<>{.node_features = 38, .edge_features = 1}, SigmoidCrossEntropy{}, adamw(), ...);
// Tensors: nodes, edges (the first dense layers), step.<i>.{edge,node,graph}.{dense,norm}.<k>, logits.
// Source: Battaglia et al. 2018, arXiv:1806.01261, algorithm 1; structure and initial values of AlgoPerf's ogbg, whose
//   first step also has weights for a graph state of zeros. They have no effect and are left out here.
template <class Activation = Relu>
struct GraphNetwork {
  std::size_t node_features = 1, edge_features = 1, tasks = 1;
  std::size_t latent = 32;  // elements of nodes and edges before the first step
  std::size_t hidden = 32;  // units of the dense layers in steps
  std::size_t layers = 1;   // of each MLP
  std::size_t steps = 3;
  double dropout = 0.1;

  template <class Net>
  constexpr Value operator()(Net& net) const {
    net.check(steps > 0 && layers > 0 && tasks > 0, {}, "GraphNetwork has ", steps, " steps, ", layers, " layers and ",
              tasks, " tasks, expected at least one of each");
    const GraphIndex of_nodes = net.ragged_axis("nodes"), of_edges = net.ragged_axis("edges");
    const Value senders = net.row_indices("senders", of_edges, of_nodes);
    const Value receivers = net.row_indices("receivers", of_edges, of_nodes);
    Value node = net("nodes", dense(latent), net.field("nodes", {node_features}, of_nodes));
    Value edge = net("edges", dense(latent), net.field("edges", {edge_features}, of_edges));
    Value graph{};
    for (std::size_t i = 0; i < steps; ++i) {
      const typename Net::Scope scope(net, {"step", i});
      const Value from = net("from", GatherRows{}, node, senders), to = net("to", GatherRows{}, node, receivers);
      edge = with_graph(net, "edge", graph, of_edges, edge, from, to);
      const Value sent = net("sent", SegmentSum{}, edge, senders);
      const Value received = net("received", SegmentSum{}, edge, receivers);
      node = with_graph(net, "node", graph, of_nodes, node, sent, received);
      const Value nodes = net("nodes", PoolRows{Pooling::sum}, node),
                  edges = net("edges", PoolRows{Pooling::sum}, edge);
      graph = i == 0 ? mlp(net, "graph", net("graph_input", Concat{}, nodes, edges))
                     : mlp(net, "graph", net("graph_input", Concat{}, nodes, edges, graph));
    }
    const Value logits = net("logits", Dense{.units = tasks, .init = Init::lecun_normal, .output_layer = true}, graph);
    return net.rows_of("tasks", logits);
  }

 private:
  static constexpr Dense dense(std::size_t units) { return {.units = units, .init = Init::lecun_normal}; }
  template <class Net>
  constexpr Value mlp(Net& net, const char* name, Value x) const {
    const typename Net::Scope scope(net, name);
    for (std::size_t k = 0; k < layers; ++k) {
      x = net({"norm", k}, LayerNorm{.eps = 1e-6}, net({"dense", k}, dense(hidden), x));
      x = net({"activation", k}, Activation{}, x);
      if (dropout > 0) x = net({"dropout", k}, Dropout{.rate = dropout}, x);
    }
    return x;
  }
  // Applies the MLP to a, b, c and, after the first step, the state of the graph.
  template <class Net>
  constexpr Value with_graph(Net& net, const char* name, Value graph, GraphIndex axis, Value a, Value b,
                             Value c) const {
    if (graph.index == no_index) return mlp(net, name, net(Concat{}, a, b, c));
    const Value repeated = net(RepeatRows{axis}, graph);
    return mlp(net, name, net(Concat{}, a, b, c, repeated));
  }
};

}  // namespace algoperf
