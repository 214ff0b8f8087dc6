// Examples with different numbers of rows, and models that read them.
#pragma once

#include <algoperf/algoperf.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace algoperf::testing::ragged {

constexpr std::size_t examples = 40, vocabulary = 5, classes = 4;

inline std::vector<std::int32_t> tokens(std::size_t n, std::uint32_t limit, std::uint64_t seed) {
  RandomStream random(RandomKey{seed});
  std::vector<std::int32_t> values(n);
  for (std::int32_t& x : values) x = static_cast<std::int32_t>(random.below(limit));
  return values;
}

// Examples 4, 9, 14, ... have no rows; the others have 1 to 12.
inline std::size_t rows_of(std::size_t example) { return example % 5 == 4 ? 0 : 1 + example * 7 % 12; }
inline std::size_t rows_before(std::size_t example) {
  std::size_t rows = 0;
  for (std::size_t e = 0; e < example; ++e) rows += rows_of(e);
  return rows;
}
inline std::vector<std::uint32_t> lengths() {
  std::vector<std::uint32_t> of_examples;
  for (std::size_t e = 0; e < examples; ++e) of_examples.push_back(static_cast<std::uint32_t>(rows_of(e)));
  return of_examples;
}
inline std::vector<std::int32_t> all_words() { return tokens(rows_before(examples), vocabulary, 1); }
inline std::vector<std::int32_t> all_tags() { return tokens(rows_before(examples), classes, 2); }

using Words = Field<"words", std::int32_t>;
using Label = Field<"label", std::int32_t>;

// Sentences with a tag per word.
using Sentences = InMemoryFields<Words, Label>;
inline Sentences sentences() {
  return Sentences({{"words", lengths()}}, {all_words(), {1}, "words"}, {all_tags(), {1}, "words"});
}
// The same with a weight per word; a third of the weights are 0.
using WeightedSentences = InMemoryFields<Words, Label, Field<"importance", float>>;
inline WeightedSentences weighted_sentences() {
  std::vector<float> weights;
  for (const std::int32_t k : tokens(rows_before(examples), 3, 3)) weights.push_back(static_cast<float>(k));
  return WeightedSentences({{"words", lengths()}}, {all_words(), {1}, "words"}, {all_tags(), {1}, "words"},
                           {weights, {1}, "words"});
}
// Sentences with a label each.
inline Sentences labelled() {
  return Sentences({{"words", lengths()}}, {all_words(), {1}, "words"}, {tokens(examples, classes, 4), {1}});
}

// Predicts the tag of each word.
template <class Net>
constexpr Value tags_of(Net& net, Value words) {
  const Value x = net("0", Embedding{.vocabulary = vocabulary, .width = 6}, words);
  return net("2", Dense{.units = classes}, net("1", Relu{}, x));
}
struct Tagger {
  template <class Net>
  constexpr Value operator()(Net& net) const {
    return tags_of(net, net.tokens("words", {1}, net.ragged_axis("words")));
  }
};
// Predicts it from the words before it, too.
struct Reader {
  template <class Net>
  constexpr Value operator()(Net& net) const {
    const Value words = net.tokens("words", {1}, net.ragged_axis("words"));
    Value x = net.reshape(net("table", Embedding{.vocabulary = vocabulary, .width = 8}, words), {8});
    x = net("positions", LearnedPositions{Init::unit_normal, 12}, x);
    x = net("block", TransformerBlock{.heads = 2, .hidden = 16, .causal = true}, x);
    return net("out", Dense{.units = classes}, x);
  }
};
// Predicts it from the words before it and those after it.
struct RecurrentReader {
  template <class Net>
  constexpr Value operator()(Net& net) const {
    const Value words = net.tokens("words", {1}, net.ragged_axis("words"));
    Value x = net.reshape(net("table", Embedding{.vocabulary = vocabulary, .width = 8}, words), {8});
    x = net("conv", DepthwiseConv1d{.size = 3}, net("positions", SinePositions{}, x));
    const Value forward = net("forward", Lstm{.units = 6}, x);
    const Value backward = net("backward", Lstm{.units = 5, .reverse = true}, x);
    return net("out", Dense{.units = classes}, net(Concat{}, forward, backward));
  }
};
// Predicts the label of a sentence.
struct Pooled {
  template <class Net>
  constexpr Value operator()(Net& net) const {
    const Value words = net.tokens("words", {1}, net.ragged_axis("words"));
    const Value x = net("table", Embedding{.vocabulary = vocabulary, .width = 8}, words);
    return net("out", Dense{.units = classes}, net(PoolRows{}, x));
  }
};

// Graphs with a type per node, and edges between nodes.
using Graphs = InMemoryFields<Field<"types", std::int32_t>, Field<"senders", std::int32_t>,
                              Field<"receivers", std::int32_t>, Label>;
// Each graph has 1 to 9 nodes, and up to 12 edges. Its class is whether node 0 receives an edge from a node of type 2.
inline Graphs graphs(std::size_t n) {
  std::vector<std::uint32_t> nodes, edges;
  std::vector<std::int32_t> types, senders, receivers, label;
  for (std::size_t g = 0; g < n; ++g) {
    RandomStream random(RandomKey{g});
    nodes.push_back(1 + random.below(9));
    edges.push_back(random.below(13));
    const std::size_t first = types.size();
    for (std::uint32_t i = 0; i < nodes.back(); ++i) types.push_back(static_cast<std::int32_t>(random.below(3)));
    label.push_back(0);
    for (std::uint32_t i = 0; i < edges.back(); ++i) {
      senders.push_back(static_cast<std::int32_t>(random.below(nodes.back())));
      receivers.push_back(static_cast<std::int32_t>(random.below(nodes.back())));
      const std::int32_t type = types[first + static_cast<std::size_t>(senders.back())];
      if (receivers.back() == 0 && type == 2) label.back() = 1;
    }
  }
  return Graphs({{"nodes", nodes}, {"edges", edges}}, {types, {1}, "nodes"}, {senders, {1}, "edges"},
                {receivers, {1}, "edges"}, {label, {1}});
}

// The embedded types of a graph's nodes, and the sums of the activated messages that they receive along the edges.
struct Nodes {
  Value types, received;
};
template <class Activation, class Net>
constexpr Nodes nodes_of(Net& net) {
  const GraphIndex nodes = net.ragged_axis("nodes"), edges = net.ragged_axis("edges");
  const Value senders = net.row_indices("senders", edges, nodes),
              receivers = net.row_indices("receivers", edges, nodes);
  const Value tokens = net.tokens("types", {1}, nodes);
  const Value types = net.reshape(net("types", Embedding{.vocabulary = 3, .width = 8}, tokens), {8});
  const Value sent = net("message", Dense{.units = 8}, net(GatherRows{}, types, senders));
  return {types, net(SegmentSum{}, net(Activation{}, sent), receivers)};
}
// Node 0 is found by its position.
struct GraphModel {
  template <class Net>
  constexpr Value operator()(Net& net) const {
    Value x = net("receive", Dense{.units = 8}, nodes_of<Relu>(net).received);
    x = net("positions", LearnedPositions{Init::unit_normal, 9}, x);
    x = net("node", Dense{.units = 16}, net(Relu{}, x));
    return net("out", Dense{.units = 2}, net(PoolRows{Pooling::max}, net(Relu{}, x)));
  }
};
// Smooth activations, and the mean of all nodes at each node.
struct SmoothGraphModel {
  template <class Net>
  constexpr Value operator()(Net& net) const {
    const Nodes nodes = nodes_of<Silu>(net);
    const Value x = net(Sum{}, nodes.types, nodes.received);
    const Value mean = net(RepeatRows{x.axis}, net(PoolRows{}, x));
    return net("out", Dense{.units = 2}, net(PoolRows{}, net(Tanh{}, net(Sum{}, mean, x))));
  }
};

}  // namespace algoperf::testing::ragged
