#include "algoperf/nn/graph/recorder.hpp"

#include "../support/check_error.hpp"
#include "algoperf/nn/all.hpp"
#include "algoperf/nn/graph/graph_cost.hpp"
#include "algoperf/nn/ops/concat.hpp"
#include "algoperf/nn/ops/product.hpp"
#include "algoperf/nn/ops/split.hpp"
#include "runner.hpp"

using namespace nn_test;
using ap::Value;

namespace of_recorder {
namespace {

constexpr ap::Dense four{.units = 4}, six{.units = 6};

// Two inputs, a gate, and a joined hidden layer.
struct Gated {
  template <class Net>
  constexpr Value operator()(Net& net) const {
    const Value image = net("image", ap::Dense{.units = 8}, net.field("pixels", {3, 4}));
    const auto [value, gate] = net(ap::Split{.first = 4}, image);
    const Value gated = net(ap::Product{}, value, net(ap::Tanh{}, gate));
    const Value text = net("text", ap::Dense{.units = 3}, net.field("words", {5}));
    return net("out", ap::Dense{.units = 2}, net(ap::Concat{}, gated, text));
  }
};
using GatedLoss = ap::Objective<Gated, ap::SoftmaxCrossEntropy>;

constexpr ap::Cost gated = ap::model_cost(Gated{});
static_assert(gated.parameters == 12 * 8 + 8 + 5 * 3 + 3 + 7 * 2 + 2);
// Kept: value and gate, the output of tanh, the joined hidden layer, and the gradient of the output.
static_assert(gated.activations == 4 + 4 + 7 + 2);
static_assert(ap::least_bytes(GatedLoss{}, {.examples = 64}) > 64 * sizeof(float) * gated.activations);

template <class ModelFunction>
std::string error_of(const ModelFunction& model) {
  try {
    ap::Recorder<> net;
    model(net);
  } catch (const ap::Error& error) {
    return error.what();
  }
  return "";
}
template <class ModelFunction>
std::vector<std::string> tensors_of(const ModelFunction& model) {
  std::vector<std::string> names;
  for (const ap::TensorSpec& tensor : ap::layout_of(model)) names.push_back(tensor.name);
  return names;
}

TEST_CASE("recorder: gradients of a model with two inputs") {
  ap::testing::check_error(ap::gradient_check(Gated{}, ap::SoftmaxCrossEntropy{}));
}

TEST_CASE("recorder: tensors have the names of the parts and blocks around them") {
  const auto block = [](auto& net, Value x) { return net(ap::Sum{}, x, net("inner", four, net(ap::LayerNorm{}, x))); };
  const auto model = [block](auto& net) {
    Value x = net("first", four, net.field("x", {4}));
    for (std::size_t i = 0; i < 2; ++i) x = net({"block", i}, block, x);
    x = net(ap::Residual(four, ap::Tanh{}), x);
    return net("last", block, x);
  };
  CHECK(tensors_of(model) == std::vector<std::string>{"first.weight", "first.bias", "block.0.0.scale", "block.0.0.bias",
                                                      "block.0.inner.weight", "block.0.inner.bias", "block.1.0.scale",
                                                      "block.1.0.bias", "block.1.inner.weight", "block.1.inner.bias",
                                                      "3.0.weight", "3.0.bias", "last.0.scale", "last.0.bias",
                                                      "last.inner.weight", "last.inner.bias"});
  CHECK_THROWS_WITH_AS(tensors_of([](auto& net) {
                         const Value x = net.field("x", {4});
                         return net(ap::Sum{}, net("twice", four, x), net("twice", four, x));
                       }),
                       "Layout: the tensor name 'twice.weight' is used twice", ap::Error);
}

TEST_CASE("recorder: a field is one value, however often it is read") {
  ap::Recorder<> net;
  const Value a = net.field("x", {4}), b = net.field("x", {4}), other = net.field("y", {4});
  CHECK(a.index == b.index);
  CHECK(a.index != other.index);
  CHECK_THROWS_WITH_AS(
      net.field("x", {5}),
      "x: the model reads this field with two shapes, axes or types: {4} on 'examples' as activations, and {5} on "
      "'examples' as activations",
      ap::Error);
}

TEST_CASE("recorder: tokens have the smallest limit of the ops that read them") {
  ap::Recorder<> net;
  const Value text = net.tokens("text", {3}), label = net.tokens("label");
  const Value x = net(ap::Embedding{.vocabulary = 9, .width = 2}, text);
  const Value y = net(ap::Embedding{.vocabulary = 7, .width = 2}, text);
  net(ap::LossOf(ap::SoftmaxCrossEntropy{}), net(four, net(ap::Sum{}, x, y)), label);
  CHECK(net.graph().values[text.index].tokens == 7);
  CHECK(net.graph().values[label.index].tokens == 4);
}

// A model that applies one op to values of the given shapes, within the block "decoder.2".
template <class Op, std::size_t N>
std::string error_in_block(const Op& op, const ap::Shape (&shapes)[N]) {
  const auto apply = [&]<std::size_t... k>(auto& net, std::index_sequence<k...>) {
    constexpr const char* names[] = {"a", "b", "c"};
    return net(
        {"decoder", 2}, [&](auto& inner, auto... x) { return inner("join", op, x...); },
        net.field(names[k], shapes[k])...);
  };
  return error_of([&](auto& net) { return apply(net, std::make_index_sequence<N>{}); });
}

TEST_CASE("recorder: errors name the path of the op") {
  CHECK(
      error_in_block(ap::Sum{}, {{2, 3}, {6}}) ==
      "decoder.2.join: the inputs have shapes {2, 3} on the axis 'examples' and {6} on 'examples', expected the same");
  CHECK(
      error_in_block(ap::Product{}, {{2, 3}, {6}}) ==
      "decoder.2.join: the inputs have shapes {2, 3} on the axis 'examples' and {6} on 'examples', expected the same");
  CHECK(error_in_block(ap::Concat{}, {{2, 3}, {2, 4}, {3, 3}}) ==
        "decoder.2.join: inputs 0 and 2 have shapes {2, 3} on the axis 'examples' and {3, 3} on 'examples', expected "
        "the same axis and the same extents except the last");
  CHECK(error_in_block(ap::Split{.first = 6}, {{6}}) ==
        "decoder.2.join: first is 6, expected at least 1 and less than the last extent of the input's shape {6}");
  for (const std::string& error :
       {error_of([](auto& net) { return net("join", ap::Sum{}, net.tokens("a"), net.tokens("b")); }),
        error_of([](auto& net) { return net("join", ap::Product{}, net.field("a", {1}), net.tokens("b")); }),
        error_of([](auto& net) { return net("join", ap::Concat{}, net.field("a", {1}), net.tokens("b")); }),
        error_of([](auto& net) { return net("join", ap::Split{}, net.tokens("b", {1})); })})
    CHECK(error == "join: expected activations, got tokens or losses of shape {1}");
  CHECK(error_in_block(ap::LookUp{}, {{6}}) ==
        "decoder.2.join: the input holds activations of shape {6}, expected tokens");
  CHECK(error_in_block(ap::TiedLogits{.width = 5}, {{6}}) ==
        "decoder.2.join: the input has shape {6}, expected the 5 elements of a row of the table");
  CHECK(error_in_block(ap::Embedding{}, {{6}}) == "decoder.2.join: expected tokens, got activations of shape {6}");
  CHECK(error_in_block(ap::LossOf(ap::SoftmaxCrossEntropy{}), {{6}, {1}}) ==
        "decoder.2.join: the labels have shape {1} on the axis 'examples', expected one token per row of the outputs, "
        "on 'examples'");
  CHECK(error_of([](auto& net) { return net("dense", four, net.tokens("text", {2})); }) ==
        "dense: expected activations, got tokens or losses of shape {2}");
  CHECK(error_of([](auto& net) {
          return net.reshape(net.field("x", {2, 3}), {5});
        }) == "reshape: a row has shape {2, 3}, expected as many elements as {5}");
}

// An op whose traits are given.
struct WithTraits {
  ap::OpTraits given;
  static constexpr const char* name = "with_traits";
  template <class Net>
  constexpr Value output(const Net&, ap::OpName, const std::array<Value, 1>&) const {
    return {ap::no_index, ap::examples_axis, {4}, ap::ElementType::activation};
  }
  constexpr ap::OpTraits traits(const std::array<Value, 1>&) const { return given; }
};

TEST_CASE("recorder: traits by which an output would have the memory of another size are refused") {
  const auto error_with = [](const ap::OpTraits& traits, ap::Shape in) {
    return error_of([=](auto& net) { return net(WithTraits{traits}, net.field("x", in)); });
  };
  ap::OpTraits traits;
  CHECK(error_with(traits, {5}).empty());
  traits.in_place = 0;
  CHECK(error_with(traits, {2, 2}).empty());
  CHECK(error_with(traits, {5}) ==
        "with_traits: its trait in_place names input 0, expected one with the size and type of output 0");
  traits.in_place = 1;
  CHECK(error_with(traits, {4}) ==
        "with_traits: its trait in_place names input 1, expected one with the size and type of output 0");
  traits.in_place = ap::no_index;
  traits.passes_gradient = true;
  CHECK(error_with(traits, {4}).empty());
  CHECK(error_with(traits, {5}) ==
        "with_traits: its trait passes_gradient requires that input 0 has the size and type of output 0");
}

TEST_CASE("recorder: the vocabulary of an embedding limits the field that its input is a view of") {
  ap::Recorder<> net;
  const Value text = net.tokens("text", {16});
  net(ap::Embedding{.vocabulary = 7, .width = 2}, net.rows_of("time", text));
  CHECK(net.graph().values[text.index].tokens == 7);
  net(ap::Embedding{.vocabulary = 5, .width = 2}, net.reshape(net.reshape(text, {4, 4}), {2, 8}));
  CHECK(net.graph().values[text.index].tokens == 5);
}

TEST_CASE("recorder: rows of an axis and back") {
  ap::Recorder<> net;
  const Value rows = net.rows_of("time", net.field("frames", {7, 3}));
  CHECK(rows.shape == ap::Shape{3});
  CHECK(net.rows(rows) == 7);
  CHECK(net.axis("time", 7) == rows.axis);
  const Value back = net.examples_of(net(six, rows));
  CHECK(back.shape == ap::Shape{7, 6});
  CHECK(back.axis == ap::examples_axis);
  CHECK_THROWS_WITH_AS(net.axis("time", 8), "time: the model gives this axis 7 and 8 rows per example", ap::Error);
  CHECK_THROWS_WITH_AS(net.rows_of("time", rows),
                       "rows_of: expected a value of rank at least 1 on the axis 'examples', got shape {3} on 'time'",
                       ap::Error);
}

TEST_CASE("recorder: a Model has one row of outputs per example") {
  const auto block = [](auto& net, Value x) { return net(six, net.rows_of("time", x)); };
  CHECK(error_of(ap::Model(ap::Shape{7, 3}, block)) ==
        "a Model has one row of outputs per example, but its last part has rows on the axis 'time'; net.examples_of() "
        "joins the rows of an example");
}

// Layers see rows: a model on the axis `time` equals the same model on examples that are those rows.
TEST_CASE_TEMPLATE("recorder: layers apply to each row of an axis", B, NN_BACKENDS) {
  using S = typename B::Scalar;
  const auto on_time = [](auto& net) {
    const Value x = net.rows_of("time", net.field("x", {4, 3}));
    const Value y = net(four, net(ap::LayerNorm{}, net(six, x)));
    net.keep(y);
    return net(ap::LossOf(ap::SoftmaxCrossEntropy{}), y, net.tokens("label", {1}, net.axis("time", 4)));
  };
  const auto on_examples = [](auto& net) {
    const Value y = net(four, net(ap::LayerNorm{}, net(six, net.field("x", {3}))));
    net.keep(y);
    return net(ap::LossOf(ap::SoftmaxCrossEntropy{}), y, net.tokens("label"));
  };
  const B backend;
  std::vector<S> x, weights(8, S(1));
  for (const double number : normals(2 * 4 * 3, 1)) x.push_back(static_cast<S>(number));
  const std::vector<std::int32_t> labels{0, 1, 2, 3, 3, 2, 1, 0};
  std::vector<S> gradients[2];
  const auto run = [&](const auto& model, std::size_t examples, std::vector<S>& to) {
    const ap::RecordedModel<B> recorded(model);
    ap::GraphExecutor<B> executor(backend, recorded, examples);
    std::vector<S> values(recorded.layout().size());
    to.resize(values.size());
    ap::Initializer<S> set(recorded.layout(), values.data(), ap::RandomKey{1});
    recorded.initialize(set);
    executor.bind(recorded.field("x").value, x.data());
    executor.bind(recorded.field("label").value, labels.data());
    const ap::GraphPass<B> pass{values.data(), to.data(), examples, ap::Mode::train, {}, 0, weights.data()};
    executor.forward(pass);
    executor.backward(pass);
  };
  run(on_time, 2, gradients[0]);
  run(on_examples, 8, gradients[1]);
  CHECK(gradients[0] == gradients[1]);
}

}  // namespace
}  // namespace of_recorder
