// Compares the operations of ops on ragged axes with those that they report, for examples of the numbers of rows for
// which the costs are counted.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "algoperf/nn/all.hpp"
#include "counting.hpp"

namespace algoperf::testing::of_ragged_costs {

using nn_test::Counted;
using nn_test::CountingBackend;

struct Operations {
  std::uint64_t outputs, loss, backward;
};
struct Tally {
  std::uint64_t flops[4] = {};
  int at = 0;
  constexpr void operation(const Operation& o) { flops[at] += o.flops; }
  constexpr void hold(std::uint64_t) {}
  constexpr void release(std::uint64_t) {}
  constexpr void gradient(std::uint64_t, ModelPart) {}
  constexpr void phase(Phase phase) { at = static_cast<int>(phase); }
};
template <class Model>
Operations reported(const Model& model, std::size_t batch, const AxisLengths& lengths) {
  Tally tally;
  count_step(model, batch, tally, lengths);
  return {tally.flops[0], tally.flops[1], tally.flops[2]};
}
// Runs a model on examples with the given rows on each axis. token(field, e, i) is token i of example e of a field.
template <class Model, class Token>
Operations executed(const Model& model, std::size_t batch, const AxisLengths& lengths, const Token& token) {
  const CountingBackend backend;
  const RecordedModel<CountingBackend> recorded(model);
  const ModelGraph& graph = recorded.graph();
  std::vector<Counted> values(recorded.layout().size()), gradients(values.size());
  Initializer<Counted> set(recorded.layout(), values.data(), RandomKey{1});
  recorded.initialize(set);

  GraphExecutor<CountingBackend> executor(backend, recorded, batch);
  std::vector<std::size_t> rows_on(graph.axes.size(), 1);
  std::vector<std::vector<std::uint32_t>> begins(graph.axes.size());
  for (std::size_t i = 0; i < graph.axes.size(); ++i) {
    rows_on[i] = graph.axes[i].rows;
    for (const AxisLength& length : lengths)
      if (graph.axes[i].ragged && detail::same_text(length.axis, graph.axes[i].name)) rows_on[i] = length.rows;
    if (!graph.axes[i].ragged) continue;
    for (std::size_t e = 0; e <= batch; ++e) begins[i].push_back(static_cast<std::uint32_t>(e * rows_on[i]));
    executor.bind_rows(static_cast<GraphIndex>(i), {batch * rows_on[i], rows_on[i], 0, {1, begins[i].data()}});
  }
  std::vector<std::vector<Counted>> reals;
  std::vector<std::vector<std::int32_t>> tokens;
  RandomStream random(RandomKey{2});
  for (const ModelGraph::ValueInfo& info : graph.values) {
    if (!info.is_field()) continue;
    const std::size_t n = rows_on[info.value.axis] * info.value.shape.size();
    if (info.value.type == ElementType::token) {
      tokens.emplace_back();
      for (std::size_t e = 0; e < batch; ++e)
        for (std::size_t i = 0; i < n; ++i) tokens.back().push_back(token(info.field, e, i));
      executor.bind(info.value, tokens.back().data());
    } else {
      reals.emplace_back();
      for (std::size_t i = 0; i < batch * n; ++i) reals.back().push_back(Counted(random.normal()));
      executor.bind(info.value, reals.back().data());
    }
  }
  const std::vector<Counted> weights(batch, Counted(1));
  const GraphPass<CountingBackend> pass{
      .values = values.data(), .gradients = gradients.data(), .examples = batch, .weights = weights.data()};
  const auto count = [](const auto& run) {
    const std::uint64_t before = Counted::operations;
    run();
    return Counted::operations - before;
  };
  Operations done;
  done.outputs = count([&] { executor.forward_to_outputs(pass); });
  done.loss = count([&] { executor.forward(pass); }) - done.outputs;
  done.backward = count([&] { executor.backward(pass); });
  return done;
}

// Each edge of a graph takes a vector from the node at which it begins to the node at which it ends.
struct Messages {
  bool twice = false;  // another op reads the nodes' vectors, whose gradients are then sums
  template <class Net>
  constexpr Value operator()(Net& net) const {
    const GraphIndex nodes = net.ragged_axis("nodes"), edges = net.ragged_axis("edges");
    const Value from = net.row_indices("from", edges, nodes), to = net.row_indices("to", edges, nodes);
    const Value x = net("in", Dense{.units = 5}, net.field("input", {3}, nodes));
    Value received = net(SegmentSum{}, net("along", Dense{.units = 5}, net(GatherRows{}, x, from)), to);
    if (twice) received = net(Sum{}, x, received);
    const Value outputs = net("out", Dense{.units = 4}, net(PoolRows{Pooling::sum}, received));
    net.keep(outputs);
    return net(LossOf(SoftmaxCrossEntropy{}), outputs, net.tokens("label"));
  }
};

TEST_CASE("cost: rows of graphs, gathered and summed") {
  for (const bool twice : {false, true}) {
    const Messages model{twice};
    const AxisLengths lengths{{"nodes", 4}, {"edges", 7}};
    const auto token = [](const char*, std::size_t e, std::size_t i) { return static_cast<std::int32_t>((e + i) % 4); };
    const Operations is = executed(model, 3, lengths, token), said = reported(model, 3, lengths);
    CHECK(is.outputs == said.outputs);
    CHECK(is.loss == said.loss);
    CHECK(is.backward == said.backward);
  }
}

// The classes of frames, and their labels.
struct Recogniser {
  std::size_t classes;
  template <class Net>
  constexpr Value operator()(Net& net) const {
    const Value outputs = net("out", Dense{.units = classes}, net.field("input", {3}, net.ragged_axis("frames")));
    net.keep(outputs);
    return CtcLoss{}(net, outputs);
  }
};

// How many terms a sum over paths has depends on the labels: the first frames reach few states, and equal neighbours
// have a blank between them. The reported cost is a bound.
TEST_CASE("cost: connectionist temporal classification") {
  const std::size_t classes = 9;
  for (const std::size_t labels : {1u, 4u, 8u}) {
    CAPTURE(labels);
    const Recogniser model{classes};
    const AxisLengths lengths{{"frames", 60}, {"symbols", labels}};
    const auto token = [](const char*, std::size_t e, std::size_t i) {
      return static_cast<std::int32_t>(1 + (e + i) % 8);
    };
    const Operations is = executed(model, 2, lengths, token), said = reported(model, 2, lengths);
    CHECK(is.outputs == said.outputs);
    CHECK(is.loss <= said.loss);
    CHECK(static_cast<double>(is.loss) >= 0.9 * static_cast<double>(said.loss));
    CHECK(is.backward == said.backward);
  }
}

}  // namespace algoperf::testing::of_ragged_costs
