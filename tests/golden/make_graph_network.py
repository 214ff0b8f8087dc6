"""Writes the golden values of small graph networks, GraphNetwork, to graph_network.hpp in this folder.

    python -m venv venv && venv/bin/pip install torch numpy scikit-learn
    venv/bin/python tests/golden/make_graph_network.py

golden_models.py describes the values. The graphs have 4, 1, 3 and 6 nodes; the second has no edges. Number i of the
features of nodes is sin(0.1 + 0.37 i), of edges cos(0.2 + 0.53 i). A label is missing where its weight is 0.
"""
from pathlib import Path

import torch
import torch.nn.functional as F
from sklearn.metrics import average_precision_score

import golden_models

NODES, EDGES = [4, 1, 3, 6], [5, 0, 2, 9]
NODE_FEATURES, EDGE_FEATURES, TASKS = 3, 2, 2
nodes_in = torch.sin(0.1 + 0.37 * torch.arange(sum(NODES) * NODE_FEATURES)).reshape(-1, NODE_FEATURES)
edges_in = torch.cos(0.2 + 0.53 * torch.arange(sum(EDGES) * EDGE_FEATURES)).reshape(-1, EDGE_FEATURES)
graph_of_node = torch.repeat_interleave(torch.arange(len(NODES)), torch.tensor(NODES))
graph_of_edge = torch.repeat_interleave(torch.arange(len(EDGES)), torch.tensor(EDGES))
first = torch.tensor([sum(NODES[:g]) for g in range(len(NODES))])[graph_of_edge]
count = torch.tensor(NODES)[graph_of_edge]
senders = first + (3 * torch.arange(sum(EDGES)) + 1) % count
receivers = first + (5 * torch.arange(sum(EDGES)) + 2) % count
labels = (torch.arange(len(NODES) * TASKS) % 3 == 0).double().reshape(-1, TASKS)
weights = (torch.arange(len(NODES) * TASKS) % 4 != 1).double().reshape(-1, TASKS)


class GraphNetwork:
    def __init__(self, latent, hidden, layers, steps, activation):
        self.layers, self.steps, self.activation, self.shapes = layers, steps, activation, {}
        self.dense("nodes", NODE_FEATURES, latent)
        self.dense("edges", EDGE_FEATURES, latent)
        node = edge = latent
        for i in range(steps):
            state = hidden if i > 0 else 0
            edge = self.mlp(f"step.{i}.edge", edge + 2 * node + state, hidden)
            node = self.mlp(f"step.{i}.node", node + 2 * edge + state, hidden)
            self.mlp(f"step.{i}.graph", node + edge + state, hidden)
        self.dense("logits", hidden, TASKS)
        self.p = golden_models.parameters(self.shapes)

    def dense(self, name, inputs, units):
        self.shapes[f"{name}.weight"], self.shapes[f"{name}.bias"] = (units, inputs), (units,)

    def mlp(self, name, inputs, units):
        for k in range(self.layers):
            self.dense(f"{name}.dense.{k}", inputs if k == 0 else units, units)
            self.shapes[f"{name}.norm.{k}.scale"] = self.shapes[f"{name}.norm.{k}.bias"] = (units,)
        return units

    def apply(self, name, x):
        return F.linear(x, self.p[f"{name}.weight"], self.p[f"{name}.bias"])

    def apply_mlp(self, name, x):
        for k in range(self.layers):
            x = self.apply(f"{name}.dense.{k}", x)
            x = F.layer_norm(x, x.shape[-1:], self.p[f"{name}.norm.{k}.scale"], self.p[f"{name}.norm.{k}.bias"], 1e-6)
            x = self.activation(x)
        return x

    def logits(self):
        node, edge = self.apply("nodes", nodes_in), self.apply("edges", edges_in)
        state = torch.zeros(len(NODES), 0)
        for i in range(self.steps):
            edge = self.apply_mlp(f"step.{i}.edge",
                                  torch.cat([edge, node[senders], node[receivers], state[graph_of_edge]], -1))
            zeros = torch.zeros(len(node), edge.shape[1])
            sent, received = zeros.index_add(0, senders, edge), zeros.index_add(0, receivers, edge)
            node = self.apply_mlp(f"step.{i}.node", torch.cat([node, sent, received, state[graph_of_node]], -1))
            zeros = torch.zeros(len(NODES), node.shape[1])
            nodes, edges = zeros.index_add(0, graph_of_node, node), zeros.index_add(0, graph_of_edge, edge)
            state = self.apply_mlp(f"step.{i}.graph", torch.cat([nodes, edges, state], -1))
        return self.apply("logits", state)

    def loss(self):
        losses = F.binary_cross_entropy_with_logits(self.logits(), labels, reduction="none")
        return (weights * losses).sum() / weights.sum()


def precision():
    """Average precisions of scores with ties, weights and a task of one class."""
    n = 12
    scores = [[((7 * i) % 5) / 4 for i in range(n)], [((5 * i) % 11) / 3 for i in range(n)], [i / 7 for i in range(n)]]
    classes = [[int(i % 3 == 0) for i in range(n)], [int((i * i) % 7 < 3) for i in range(n)], [1] * n]
    weight = [[1 + i % 2 for i in range(n)], [int(i % 4 != 2) for i in range(n)], [1] * n]
    return sum(average_precision_score(classes[t], scores[t], sample_weight=weight[t]) for t in (0, 1)) / 2


definitions = ""
for name, network in (("graph_network", GraphNetwork(4, 4, 1, 2, F.relu)),
                      ("graph_network_model_size", GraphNetwork(3, 5, 2, 2, F.silu)),
                      ("graph_network_gelu", GraphNetwork(3, 3, 1, 2, lambda x: F.gelu(x, approximate="tanh")))):
    definitions += golden_models.model(name, network.p, network.loss, network.logits) + "\n"
definitions += f"inline const double mean_average_precision = {precision():.17g};\n"
golden_models.write(Path(__file__).with_name("graph_network.hpp"), "make_graph_network.py", definitions)
