// Ops on ragged axes: gradients, costs and mistakes. tests/loop/ragged_test.cpp checks values.
#include <doctest/doctest.h>

#include <string>

#include "../support/check_error.hpp"
#include "../support/sentence.hpp"
#include "algoperf/backend/host.hpp"
#include "algoperf/nn/all.hpp"

namespace ap = algoperf;
using ap::GraphIndex;
using ap::Value;

namespace of_ragged_ops {
namespace {

// A Host without attention of its own, on which the op runs its loops over rows.
struct RowsHost : ap::Host<double> {
  void attention(const ap::AttentionShape&) const = delete;
};

// Makes a model with a loss per row of `part(net, x)`, where x are trained rows of {4} on the ragged axis "words".
template <class Part>
auto with_loss(const Part& part) {
  return [part](auto& net) {
    const GraphIndex words = net.ragged_axis("words");
    const Value x = net("in", ap::Dense{.units = 4}, net.field("x", {3}, words));
    const Value y = net("out", ap::Dense{.units = 3}, part(net, x));
    return net(ap::LossOf(ap::SoftmaxCrossEntropy{}), y, net.tokens("label", {1}, y.axis));
  };
}

template <class B = ap::Host<double>, class ModelFunction>
void check_gradients_of(const ModelFunction& model) {
  // Some seeds draw examples without rows, and one draws no rows but those of the longest example.
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
    INFO("seed ", seed);
    ap::testing::check_error(ap::gradient_check(model, {.batch = 4, .rows = 5, .seed = seed}, B{}));
  }
}

TEST_CASE("ragged axes: gradients of layers and of pooled rows") {
  check_gradients_of(with_loss([](auto& net, Value x) { return net(ap::LayerNorm{}, net(ap::Gelu{}, x)); }));
  check_gradients_of(with_loss([](auto& net, Value x) { return net(ap::Dropout{.rate = 0.3}, x); }));
  for (const ap::Pooling by : {ap::Pooling::mean, ap::Pooling::sum, ap::Pooling::max})
    check_gradients_of(with_loss([by](auto& net, Value x) { return net(ap::PoolRows{by}, x); }));
  // All rows of an example are equal.
  check_gradients_of([](auto& net) {
    const Value words = net.tokens("words", {1}, net.ragged_axis("words"));
    const Value most = net(ap::PoolRows{ap::Pooling::max}, net("x", ap::Embedding{.vocabulary = 1, .width = 3}, words));
    return net(ap::LossOf(ap::SoftmaxCrossEntropy{}), most, net.tokens("label"));
  });
}

TEST_CASE("ragged axes: gradients of repeated rows, also with a fixed number of rows") {
  check_gradients_of(with_loss([](auto& net, Value x) {
    const Value context = net(ap::PoolRows{}, x);
    return net(ap::Sum{}, x, net(ap::RepeatRows{x.axis}, context));
  }));
  check_gradients_of(with_loss([](auto& net, Value x) {
    return net(ap::RepeatRows{net.axis("places", 3)}, net(ap::PoolRows{ap::Pooling::max}, x));
  }));
}

TEST_CASE("ragged axes: gradients of attention and positions") {
  const auto attend = [](bool causal) {
    return with_loss([causal](auto& net, Value x) {
      return net(ap::Attention{.heads = 2, .causal = causal}, net("qkv", ap::Dense{.units = 12}, x));
    });
  };
  const auto cross = with_loss([](auto& net, Value x) {
    const Value z = net("z", ap::Dense{.units = 8}, net.field("z", {2}, net.ragged_axis("frames")));
    return net(ap::Attention{.heads = 2}, x, z);
  });
  const auto keys_of_fixed_number = with_loss([](auto& net, Value x) {
    const Value z = net("z", ap::Dense{.units = 8}, net.field("z", {2}, net.axis("frames", 3)));
    return net(ap::Attention{.heads = 2}, x, z);
  });
  for (const bool causal : {false, true}) {
    check_gradients_of(attend(causal));
    check_gradients_of<RowsHost>(attend(causal));
  }
  check_gradients_of(cross);
  check_gradients_of<RowsHost>(cross);
  check_gradients_of(keys_of_fixed_number);
  check_gradients_of(with_loss([](auto& net, Value x) {
    return net("at", ap::LearnedPositions{ap::Init::unit_normal, 6}, x);
  }));
  check_gradients_of(with_loss([](auto& net, Value x) { return net(ap::RotaryPositions{.size = 2}, x); }));
  check_gradients_of(with_loss([](auto& net, Value x) { return net(ap::SinePositions{}, net(ap::Gelu{}, x)); }));
  check_gradients_of(with_loss([](auto& net, Value x) {  // both inputs of the sum share its gradient
    const Value other = net("other", ap::Dense{.units = 4}, x);
    return net(ap::Sum{}, other, net(ap::SinePositions{}, x));
  }));
}

TEST_CASE("ragged axes: gradients of convolutions along the rows, and of scales") {
  for (const std::size_t size : {1u, 3u, 7u})  // some examples have fewer rows
    check_gradients_of(
        with_loss([size](auto& net, Value x) { return net("conv", ap::DepthwiseConv1d{.size = size}, x); }));
  check_gradients_of(with_loss([](auto& net, Value x) { return net("scale", ap::PerDimScale{.heads = 2}, x); }));
  check_gradients_of(with_loss([](auto& net, Value x) { return net(ap::ScaleRows{0.5}, net(ap::Gelu{}, x)); }));
  check_gradients_of(with_loss([](auto& net, Value x) {  // two ops share the factors
    const ap::detail::PerDimScaleOp op{2, net.tensor("s", ap::Kind::weight, {2}, ap::Init::unit_normal)};
    return net(op, net("middle", ap::Dense{.units = 4}, net(op, x)));
  }));
}

// Messages along the edges of a graph.
struct Messages {
  template <class Net>
  constexpr Value operator()(Net& net) const {
    const GraphIndex nodes = net.ragged_axis("nodes"), edges = net.ragged_axis("edges");
    const Value senders = net.row_indices("senders", edges, nodes),
                receivers = net.row_indices("receivers", edges, nodes);
    Value x = net("in", ap::Dense{.units = 4}, net.field("x", {3}, nodes));
    for (std::size_t i = 0; i < 2; ++i) {
      const Value sent = net(ap::GatherRows{}, x, senders), met = net(ap::GatherRows{}, x, receivers);
      const Value message = net({"message", i}, ap::Dense{.units = 4}, net(ap::Product{}, sent, met));
      x = net(ap::Sum{}, x, net(ap::SegmentSum{}, message, receivers));
    }
    return net("out", ap::Dense{.units = 3}, net(ap::PoolRows{}, x));
  }
};

TEST_CASE("ragged axes: gradients of messages between rows") {
  check_gradients_of(ap::Objective<Messages, ap::SoftmaxCrossEntropy>{Messages{}, {}});
}

TEST_CASE("ragged axes: gradients where the indices' axis is declared first") {
  check_gradients_of([](auto& net) {
    const GraphIndex edges = net.ragged_axis("edges"), nodes = net.ragged_axis("nodes");
    const Value at = net.row_indices("at", edges, nodes);
    const Value x = net("in", ap::Dense{.units = 3}, net.field("x", {2}, nodes));
    const Value y = net(ap::SegmentSum{}, net(ap::GatherRows{}, x, at), at);
    return net(ap::LossOf(ap::SoftmaxCrossEntropy{}), y, net.tokens("label", {1}, nodes));
  });
}

// A Host that has no more than `limit` bytes for an array.
struct SmallHost : ap::Host<double> {
  std::size_t limit = 0;
  template <class T>
  auto array(std::size_t n) const {
    if (n * sizeof(T) > limit) ap::fail_to_allocate(n, sizeof(T));
    return ap::Host<double>::array<T>(n);
  }
};

// Sizes of padded batches grow by at most an eighth.
constexpr bool bucket(std::size_t n, std::size_t expected) { return ap::detail::row_bucket(n) == expected; }
static_assert(bucket(0, 0) && bucket(15, 15) && bucket(16, 16) && bucket(17, 18) && bucket(100, 104));
static_assert(bucket(1000, 1024) && bucket(1024, 1024) && bucket(1025, 1152));

TEST_CASE("ragged axes: passes after memory could not grow do not use memory that is too small") {
  const ap::RecordedModel<SmallHost> model([](auto& net) {
    const Value x = net.field("x", {4}, net.ragged_axis("words"));
    const Value y = net("1", ap::Dense{.units = 4}, net("0", ap::Dense{.units = 4}, x));
    net.keep(y);
    return y;
  });
  ap::GraphExecutor<SmallHost> executor(SmallHost{{}, 1 << 16}, model, 1, {.training = false});
  const std::vector<double> values(model.layout().size(), 0.5), x(4000, 1.0);
  executor.bind(model.field("x").value, x.data());
  const auto run = [&](std::uint32_t rows) {
    const std::uint32_t begins[] = {0, rows};
    executor.bind_rows(model.field("x").value.axis, {rows, rows, 0, {1, begins}});
    ap::GraphPass<SmallHost> pass;
    pass.values = values.data();
    pass.examples = 1;
    pass.mode = ap::Mode::evaluate;
    executor.forward(pass);
    return executor.result(model.outputs(), ap::Mode::evaluate)[4 * rows - 1];
  };
  CHECK(run(100) == 5.5);  // 4 * 0.5 (4 * 0.5 + 0.5) + 0.5
  CHECK_THROWS_AS(run(1000), ap::OutOfMemory);
  CHECK_THROWS_AS(run(990), ap::OutOfMemory);
  CHECK(run(100) == 5.5);
}

TEST_CASE("ragged axes: costs are those of the given number of rows") {
  static_assert(ap::model_cost(Messages{}, {{"nodes", 5}, {"edges", 7}}).parameters == 16 + 2 * 20 + 15);
  const auto dense = [](auto& net) {
    return net(ap::PoolRows{}, net("in", ap::Dense{.units = 4}, net.field("x", {3}, net.ragged_axis("words"))));
  };
  const auto fixed = [](auto& net) {
    return net(ap::PoolRows{}, net("in", ap::Dense{.units = 4}, net.field("x", {3}, net.axis("words", 6))));
  };
  const ap::Cost found = ap::model_cost(dense, {{"words", 6}}), expected = ap::model_cost(fixed);
  CHECK(found.forward_flops == expected.forward_flops);
  CHECK(found.backward_flops == expected.backward_flops);
  CHECK(found.activations == expected.activations);
  CHECK(ap::summary(dense, {{"words", 6}}) == ap::summary(fixed));
  const auto attends = [](auto& net) { return net(ap::Attention{}, net.field("x", {3}, net.ragged_axis("words"))); };
  CHECK(ap::model_cost(attends, {{"words", 0}}).forward_flops == 0);
  CHECK(ap::model_cost(attends, {{"words", 5}}).forward_flops == 25 * (4 + 6));
  CHECK(sentence([] {
          ap::model_cost(Messages{}, {{"nodes", 5}});
        }) == "cost: the axis 'edges' is ragged: give its rows per example, as in {{\"edges\", 20}}");
}

template <class ModelFunction>
std::string mistake(const ModelFunction& model) {
  return sentence([&] {
    ap::Recorder<> net;
    model(net);
  });
}

TEST_CASE("ragged axes: an executor refuses more rows than the model can process") {
  const ap::RecordedModel<ap::Host<float>> model([](auto& net) {
    return net("at", ap::LearnedPositions{.positions = 3}, net.field("x", {2}, net.ragged_axis("words")));
  });
  ap::GraphExecutor<ap::Host<float>> executor({}, model, 1, {.training = false});
  const std::uint32_t begins[] = {0, 4};
  CHECK(sentence([&] {
          executor.bind_rows(model.field("x").value.axis, {4, 4, 0, {1, begins}});
        }) ==
        "GraphExecutor: an example has 4 rows on the axis 'words', expected at most 3 (LearnedPositions's positions)");
}

TEST_CASE("ragged axes: mistakes name the op") {
  CHECK(mistake([](auto& net) {
          net.axis("words", 3);
          net.ragged_axis("words");
        }) == "words: the model declares this axis both fixed and ragged");
  CHECK(mistake([](auto& net) { net.examples_of(net.field("x", {3}, net.ragged_axis("words"))); }) ==
        "examples_of: examples have different numbers of rows on the axis 'words'; PoolRows reduces them to one row");
  CHECK(mistake([](auto& net) { net("at", ap::LearnedPositions{}, net.field("x", {3}, net.ragged_axis("words"))); }) ==
        "at: LearnedPositions: positions is 0, expected the most rows of an example on the ragged axis 'words'");
  CHECK(mistake([](auto& net) {
          net("at", ap::LearnedPositions{.positions = 5}, net.field("x", {3}, net.axis("words", 4)));
        }) == "at: LearnedPositions: positions is 5, but the axis 'words' has 4 rows per example");
  CHECK(mistake([](auto& net) {
          net(ap::GatherRows{}, net.field("x", {3}, net.ragged_axis("nodes")),
              net.tokens("at", {1}, net.ragged_axis("edges")));
        }) == "gather_rows: expected a field of indices of rows, which net.row_indices() declares");
  CHECK(mistake([](auto& net) {
          const GraphIndex nodes = net.ragged_axis("nodes"), edges = net.ragged_axis("edges");
          net(ap::GatherRows{}, net.field("x", {3}, edges), net.row_indices("at", edges, nodes));
        }) == "gather_rows: the indices refer to the axis 'nodes', the indexed rows lie on 'edges', expected the same");
  CHECK(mistake([](auto& net) {
          const GraphIndex nodes = net.ragged_axis("nodes"), edges = net.ragged_axis("edges");
          net(ap::SegmentSum{}, net.field("x", {3}, nodes), net.row_indices("at", edges, nodes));
        }) == "segment_sum: the rows are on the axis 'nodes', their indices on 'edges', expected the same");
  CHECK(mistake([](auto& net) {
          const GraphIndex nodes = net.ragged_axis("nodes"), edges = net.ragged_axis("edges");
          net.row_indices("at", edges, nodes);
          net.row_indices("at", edges, edges);
        }) == "at: the model reads this field as rows of two axes, 'nodes' and 'edges'");
  CHECK(mistake([](auto& net) { net.limit_rows(net.axis("words", 3), 5, "most"); }) ==
        "words: most limits the rows of this axis to 5, expected a ragged axis and at least 1");
  CHECK(mistake([](auto& net) {
          const Value tags = net.tokens("tags", {1}, net.ragged_axis("tags"));
          net.align(tags, net.ragged_axis("words"), 0);
          net.align(tags, net.ragged_axis("words"), 1);
        }) == "tags: the model aligns these labels with two axes, or for two blanks");
  CHECK(mistake([](auto& net) {
          net.align(net.field("x", {3}, net.ragged_axis("tags")), net.ragged_axis("words"), 0);
        }) == "x: labels are aligned with rows, expected a field of one token per row, got shape {3}");
  CHECK(mistake([](auto& net) {
          net(ap::RepeatRows{net.ragged_axis("words")}, net.field("x", {3}, net.axis("time", 2)));
        }) == "repeat_rows: expected one row per example, got shape {3} on the axis 'time'");
  CHECK(mistake([](auto& net) {
          const Value x = net.field("x", {3}, net.ragged_axis("words"));
          net(ap::Sum{}, x, net.field("y", {3}, net.ragged_axis("others")));
        }) == "sum: the inputs have shapes {3} on the axis 'words' and {3} on 'others', expected the same");
}

}  // namespace
}  // namespace of_ragged_ops
