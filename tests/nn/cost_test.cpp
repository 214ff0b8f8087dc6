// Compares the operations that layers and losses report with the operations they execute.
#include "algoperf/core/cost.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "algoperf/nn/all.hpp"
#include "counting.hpp"

namespace ap = algoperf;

namespace {

using nn_test::Counted;
using nn_test::CountingBackend;

template <class F>
std::uint64_t operations_of(const F& f) {
  const std::uint64_t before = Counted::operations;
  f();
  return Counted::operations - before;
}

// The FLOPs of each phase of a step.
struct PhaseSums {
  std::uint64_t flops[4] = {}, held = 0;
  int at = 0;
  constexpr void operation(const ap::Operation& o) { flops[at] += o.flops; }
  constexpr void hold(std::uint64_t n) { held += n; }
  constexpr void release(std::uint64_t n) { held -= n; }
  constexpr void gradient(std::uint64_t n, ap::ModelPart) { held += n; }
  constexpr void phase(ap::Phase phase) { at = static_cast<int>(phase); }
};

// Runs a forward pass with the loss, and a backward pass.
template <class Model, class Loss = ap::SoftmaxCrossEntropy>
void counts_what_it_does(const Model& model, const Loss& loss = {}, std::size_t batch = 3) {
  using Input = typename Model::template Input<Counted>;
  const CountingBackend backend;
  const ap::Objective<Model, Loss> objective{model, loss};
  const ap::RecordedModel<CountingBackend> recorded(objective);
  const ap::Layout& layout = recorded.layout();
  std::vector<Counted> values(layout.size()), gradients(layout.size());
  ap::Initializer<Counted> set(layout, values.data(), ap::RandomKey{1});
  recorded.initialize(set);
  const std::size_t outputs = model.output().size();
  std::vector<Input> x(batch * model.input().size());
  ap::RandomStream random(ap::RandomKey{2});
  for (Input& each : x)
    if constexpr (std::is_same_v<Input, Counted>)
      each = Counted(random.normal());
    else
      each = static_cast<Input>(random.below(static_cast<std::uint32_t>(model.tokens())));
  using Label = ap::LossLabel<Loss, Counted>;
  const std::vector<Label> labels(std::is_same_v<Label, Counted> ? batch * outputs : batch, Label(0));
  const std::vector<Counted> weights(batch, Counted(1));

  PhaseSums sums;
  const std::uint64_t fields = ap::count_step(objective, batch, sums);
  CHECK(fields == x.size() + labels.size());
  CHECK(sums.held == fields + model.parameters());  // the batch and the gradients of parameters are still held
  ap::CostSum of_loss;
  loss.count(batch, outputs, of_loss);
  CHECK(of_loss.flops == sums.flops[1]);
  PhaseSums of_one;
  ap::count_step(objective, 1, of_one);
  CHECK(model.cost().forward_flops == of_one.flops[0]);
  CHECK(model.cost().backward_flops == of_one.flops[2]);

  ap::GraphExecutor<CountingBackend> executor(backend, recorded, batch);
  executor.bind(recorded.field("input").value, x.data());
  executor.bind(recorded.field("label").value, labels.data());
  const ap::GraphPass<CountingBackend> pass{
      .values = values.data(), .gradients = gradients.data(), .examples = batch, .weights = weights.data()};
  CHECK(operations_of([&] { executor.forward_to_outputs(pass); }) == sums.flops[0]);
  CHECK(operations_of([&] { executor.forward(pass); }) == sums.flops[0] + sums.flops[1]);
  CHECK(operations_of([&] { executor.backward(pass); }) == sums.flops[2]);
}

// Applies a part to `rows` rows of each example.
template <class Part>
struct OnRows {
  std::size_t rows;
  Part part;
  template <class Net>
  constexpr ap::Value operator()(Net& net, ap::Value x) const {
    const ap::Value in = net.rows_of("time", net.reshape(x, {rows, x.shape.size() / rows}));
    return net.examples_of(net("part", part, in));
  }
};
template <class Part>
OnRows(std::size_t, Part) -> OnRows<Part>;

// An LSTM over tokens.
struct LstmOfTokens {
  static constexpr bool reads_tokens = true;
  template <class Net>
  constexpr ap::Value operator()(Net& net, ap::Value tokens) const {
    const ap::SharedTensor table = net.tensor("table", ap::Kind::embedding, {16, 3}, ap::Init::unit_normal);
    const ap::Lstm lstm{.units = 2, .embedding = {.table = table, .vocabulary = 16, .width = 3}};
    return net.examples_of(net("lstm", lstm, net.rows_of("time", tokens)));
  }
};

// Adds the pooled rows of an example to each of them.
struct WithPooled {
  std::size_t rows;
  ap::Pooling pooling = ap::Pooling::mean;
  template <class Net>
  constexpr ap::Value operator()(Net& net, ap::Value x) const {
    const ap::Value in = net.rows_of("time", net.reshape(x, {rows, x.shape.size() / rows}));
    const ap::Value pooled = net(ap::PoolRows{pooling}, in);
    return net.examples_of(net(ap::Sum{}, in, net(ap::RepeatRows{in.axis}, pooled)));
  }
};

// Multiplies the rows of an example by those of a shared tensor, and then by the rows of a table, which are its logits.
struct WithTensors {
  std::size_t rows;
  bool bias;
  template <class Net>
  constexpr ap::Value operator()(Net& net, ap::Value x) const {
    const std::size_t width = x.shape.size() / rows;
    const ap::Value in = net.rows_of("time", net.reshape(x, {rows, width}));
    const ap::SharedTensor factors =
        net.tensor("factors", ap::Kind::weight, {rows, width}, ap::Init::unit_normal, 1, width);
    ap::TiedLogits logits{.table = net.tensor("table", ap::Kind::embedding, {5, width}, ap::Init::unit_normal),
                          .vocabulary = 5,
                          .width = width};
    if (bias) logits.bias = net.tensor("bias", ap::Kind::bias, {5}, ap::Init::zeros);
    return net.examples_of(net(logits, net(ap::Product{}, in, net(ap::RepeatTensor{factors, in.axis, width}))));
  }
};

// The elements that operations read and write.
struct Traffic {
  std::uint64_t read = 0, written = 0;
  constexpr void operation(const ap::Operation& o) { read += o.read, written += o.written; }
  constexpr void hold(std::uint64_t) {}
  constexpr void release(std::uint64_t) {}
  constexpr void gradient(std::uint64_t, ap::ModelPart) {}
  friend constexpr bool operator==(const Traffic&, const Traffic&) = default;
};
template <class Layer>
constexpr Traffic forward_traffic(const Layer& layer, ap::Shape in) {
  Traffic traffic;
  layer.count_forward(in, 2, traffic);
  return traffic;
}
template <class Layer>
constexpr Traffic backward_traffic(const Layer& layer, ap::Shape in) {
  Traffic traffic;
  layer.count_backward(in, 2, true, traffic);
  return traffic;
}
template <class Loss>
constexpr Traffic loss_traffic(const Loss& loss) {
  Traffic traffic;
  loss.count(2, 5, traffic);
  return traffic;
}

// Batches of two examples, computed by hand: each array counts once per operation that reads or writes it. Images have
// 32 elements, of which a pool of size 2 makes 8.
constexpr ap::Shape image{4, 4, 2};
static_assert(forward_traffic(ap::Relu{}, {6}) == Traffic{12, 12});
static_assert(backward_traffic(ap::Relu{}, {6}) == Traffic{12 + 12, 12});
static_assert(forward_traffic(ap::LeakyRelu{}, {6}) == Traffic{12, 12});
static_assert(backward_traffic(ap::LeakyRelu{}, {6}) == Traffic{12 + 12, 12});
static_assert(forward_traffic(ap::Dropout{}, {6}) == Traffic{12, 12});
static_assert(forward_traffic(ap::MaxPool{.size = 2}, image) == Traffic{64, 16 + 16});  // maxima and their places
static_assert(backward_traffic(ap::MaxPool{.size = 2}, image) == Traffic{16 + 16, 64});
static_assert(forward_traffic(ap::AveragePool{.size = 2}, image) == Traffic{64, 16});
static_assert(backward_traffic(ap::AveragePool{.size = 2}, image) == Traffic{16, 64});
// 2 x 5 tokens, and as many rows of 3 elements; the gradient of a table of 7 x 3.
static_assert(forward_traffic(ap::Embedding{.vocabulary = 7, .width = 3}, {5}) == Traffic{10 + 30, 30});
static_assert(backward_traffic(ap::Embedding{.vocabulary = 7, .width = 3}, {5}) == Traffic{10 + 30, 21});
// 4 x 6 weights and 4 biases: product, bias; backward the gradients of bias, weights and input.
static_assert(forward_traffic(ap::Dense{.units = 4}, {6}) == Traffic{12 + 24 + 8 + 4, 8 + 8});
static_assert(backward_traffic(ap::Dense{.units = 4}, {6}) == Traffic{8 + (8 + 12) + (8 + 24), 4 + 24 + 12});
// 3 x 18 weights, and 2 x 2 x 2 windows of 3 filters.
static_assert(forward_traffic(ap::Conv2d{.filters = 3, .size = 3}, image) == Traffic{64 + 54 + 24 + 3, 24 + 24});
static_assert(backward_traffic(ap::Conv2d{.filters = 3, .size = 3}, image) ==
              Traffic{24 + (64 + 24) + (24 + 54), 3 + 54 + 64});
// 2 x 12 weights, and 2 x 8 x 8 outputs of 3 filters.
static_assert(forward_traffic(ap::ConvTranspose2d{.filters = 3}, image) == Traffic{64 + 24 + 384 + 3, 384 + 384});
static_assert(backward_traffic(ap::ConvTranspose2d{.filters = 3}, image) ==
              Traffic{384 + (64 + 384) + (384 + 24), 3 + 24 + 64});
// Scale and bias of the 6 elements of a row. Two statistics per row are kept.
static_assert(forward_traffic(ap::LayerNorm{}, {6}) == Traffic{12 + 6 + 6, 12 + 2 * 2});
static_assert(forward_traffic(ap::RmsNorm{}, {6}) == Traffic{12 + 6, 12 + 2});
static_assert(forward_traffic(ap::GroupNorm{.groups = 2}, {3, 4}) == Traffic{24 + 4 + 4, 24 + 2 * 4});
static_assert(forward_traffic(ap::InstanceNorm{}, {3, 4}) == Traffic{24, 24 + 2 * 8});
static_assert(backward_traffic(ap::InstanceNorm{}, {3, 4}) == Traffic{24 + 24 + 2 * 8, 24});
// Logits, labels and weights are read; losses and gradients are written.
static_assert(loss_traffic(ap::SoftmaxCrossEntropy{}) == Traffic{10 + 2 + 2, 2 + 10});
static_assert(loss_traffic(ap::SigmoidCrossEntropy{}) == Traffic{10 + 2 + 2, 2 + 10});
static_assert(loss_traffic(ap::BinaryCrossEntropy{}) == Traffic{10 + 10 + 2, 2 + 10});
static_assert(loss_traffic(ap::SoftCrossEntropy{}) == Traffic{10 + 10 + 2, 2 + 10});
static_assert(loss_traffic(ap::MeanSquaredError{}) == Traffic{10 + 10 + 2, 2 + 10});
static_assert(loss_traffic(ap::MeanAbsoluteError{}) == Traffic{10 + 10 + 2, 2 + 10});

}  // namespace

TEST_CASE("dense layers and activations report the operations they execute") {
  constexpr ap::Dense five{.units = 5};
  counts_what_it_does(ap::linear_model({4}, 3));
  counts_what_it_does(ap::mlp(ap::Shape{6}, {5, 4}, 3));
  counts_what_it_does(ap::Model(ap::Shape{4}, five, ap::LeakyRelu{}, five));
  counts_what_it_does(ap::Model(ap::Shape{4}, five, ap::Tanh{}, five));
  counts_what_it_does(ap::Model(ap::Shape{4}, five, ap::Silu{}, five));
  counts_what_it_does(ap::Model(ap::Shape{4}, five, ap::Gelu{}, five));
  counts_what_it_does(ap::Model(ap::Shape{4}, ap::Dense{.units = 6}, ap::Glu{}, five));
  counts_what_it_does(ap::Model(ap::Shape{4}, five, ap::GeluTanh{}, ap::Dropout{.rate = 0}, five));
}

TEST_CASE("convolutions and pooling layers report the operations they execute") {
  for (const std::size_t padding : {0u, 1u, 2u})
    for (const std::size_t stride : {1u, 2u}) {
      CAPTURE(padding);
      CAPTURE(stride);
      const ap::Conv2d conv{.filters = 3, .size = 3, .stride = stride, .padding = padding};
      counts_what_it_does(ap::Model(ap::Shape{9, 8, 2}, conv, ap::Relu{}, conv, ap::Dense{.units = 3}));
    }
  for (const bool bias : {false, true})
    for (const std::size_t stride : {1u, 2u}) {
      const ap::DepthwiseConv2d depthwise{.stride = stride, .padding = 1, .bias = bias};
      counts_what_it_does(ap::Model(ap::Shape{9, 8, 2}, depthwise, ap::Relu{}, depthwise, ap::Dense{.units = 3}));
    }
  const ap::Conv2d pointwise{.filters = 4, .size = 1}, three{.filters = 2, .padding = 1};
  counts_what_it_does(ap::Model(ap::Shape{5, 4, 2}, three, pointwise, ap::MaxPool{}, ap::Dense{.units = 3}));
  counts_what_it_does(
      ap::Model(ap::Shape{7, 8, 2}, three, ap::MaxPool{.size = 3, .stride = 2}, three, ap::AveragePool{.size = 2}));
  for (const std::size_t size : {1u, 2u, 3u}) {
    const ap::ConvTranspose2d up{.filters = 3, .size = size, .stride = size == 2 ? 2u : 1u, .padding = size / 3};
    counts_what_it_does(ap::Model(ap::Shape{4, 5, 2}, up, up, ap::Dense{.units = 3}));
  }
  counts_what_it_does(ap::simple_cnn({9, 8, 2}, 4, {.filters1 = 3, .filters2 = 5, .units = 6, .size = 3}));
}

TEST_CASE("normalisation layers report the operations they execute") {
  const ap::Conv2d conv{.filters = 4, .padding = 1};
  const ap::Shape in{4, 3, 2};
  counts_what_it_does(ap::Model(in, conv, ap::LayerNorm{}, conv, ap::LayerNorm{}));
  counts_what_it_does(ap::Model(in, conv, ap::LayerNorm{.affine = false}, conv, ap::LayerNorm{.affine = false}));
  counts_what_it_does(ap::Model(in, conv, ap::RmsNorm{}, conv, ap::RmsNorm{}));
  counts_what_it_does(ap::Model(in, ap::GroupNorm{.groups = 2}, conv, ap::GroupNorm{.groups = 2}, ap::Relu{}));
  counts_what_it_does(ap::Model(in, conv, ap::InstanceNorm{}, conv, ap::InstanceNorm{}));
  counts_what_it_does(ap::Model(in, conv, ap::BatchNorm{}, ap::Relu{}, ap::Dense{.units = 3}));
  counts_what_it_does(ap::Model(in, conv, ap::BatchNorm{.ghost = 2}, ap::Relu{}, ap::Dense{.units = 3}), {}, 5);
}

TEST_CASE("layers made of layers report the operations they execute") {
  constexpr ap::Dense four{.units = 4}, six{.units = 6};
  const ap::Shape in{4};
  counts_what_it_does(ap::Model(in, ap::Residual(four, ap::Residual(six, ap::Relu{}, four), ap::Relu{})));
  counts_what_it_does(ap::Model(in, ap::Sequential(ap::Relu{}, six), ap::Relu{}, ap::Sequential(four, ap::Relu{})));
  counts_what_it_does(ap::Model(in, six, ap::StopGradient(ap::Sequential(six, ap::Relu{})), four));
  counts_what_it_does(ap::Model(in, ap::StopGradient(ap::Sequential(six, ap::Tanh{}, six)), ap::Relu{}, four));
  counts_what_it_does(ap::next_character(5, 16, {.width = 3, .units = 8}));
  counts_what_it_does(ap::Model(
      ap::Shape{3}, ap::Tied(ap::Embedding{.vocabulary = 16, .width = 5}, ap::Flatten{}, ap::Dense{.units = 5})));
}

TEST_CASE("an LSTM reports the operations it executes") {
  counts_what_it_does(ap::Model(ap::Shape{12}, OnRows{4, ap::Lstm{.units = 2}}));
  counts_what_it_does(ap::Model(ap::Shape{12}, ap::Dense{.units = 15}, OnRows{5, ap::Lstm{.units = 2}}), {}, 18);
  counts_what_it_does(ap::Model(ap::Shape{4}, OnRows{1, ap::Lstm{.units = 3}}));
  counts_what_it_does(ap::Model(ap::Shape{5}, LstmOfTokens{}));
}

TEST_CASE("cost: convolutions along rows, scales and positions") {
  const ap::Dense six{.units = 6};
  for (const std::size_t size : {1u, 5u})  // some windows are longer than an example
    for (const std::size_t rows : {1u, 2u, 6u})
      counts_what_it_does(ap::Model(ap::Shape{6}, OnRows{rows, ap::DepthwiseConv1d{.size = size}},
                                    OnRows{rows, ap::DepthwiseConv1d{.size = 3}}));
  counts_what_it_does(ap::Model(ap::Shape{8}, OnRows{2, ap::PerDimScale{.heads = 2}}, ap::Dense{.units = 3}));
  counts_what_it_does(ap::Model(ap::Shape{6}, six, OnRows{3, ap::PerDimScale{.heads = 2}}, ap::Dense{.units = 3}));
  counts_what_it_does(ap::Model(ap::Shape{6}, six, OnRows{3, ap::ScaleRows{2}}, ap::Relu{}));
  counts_what_it_does(ap::Model(ap::Shape{6}, six, OnRows{3, ap::SinePositions{}}, ap::Relu{}));
}

TEST_CASE("cost: rows that are pooled, repeated or placed, and shared tensors") {
  const ap::Dense six{.units = 6}, eight{.units = 8};
  for (const ap::Pooling pooling : {ap::Pooling::mean, ap::Pooling::sum, ap::Pooling::max})
    counts_what_it_does(ap::Model(ap::Shape{6}, six, WithPooled{3, pooling}, ap::Relu{}));
  counts_what_it_does(ap::Model(ap::Shape{6}, six, OnRows{3, ap::LearnedPositions{}}, ap::Relu{}));
  counts_what_it_does(ap::Model(ap::Shape{6}, eight, OnRows{2, ap::GridPositions{.columns = 2}}, ap::Relu{}));
  for (const bool bias : {false, true})
    counts_what_it_does(ap::Model(ap::Shape{6}, six, WithTensors{2, bias}, ap::Relu{}));
}

TEST_CASE("losses report the operations they execute") {
  const auto model = ap::linear_model({4}, 3);
  counts_what_it_does(model, ap::SoftmaxCrossEntropy{.label_smoothing = 0.1});
  counts_what_it_does(model, ap::SigmoidCrossEntropy{});
  counts_what_it_does(model, ap::BinaryCrossEntropy{});
  counts_what_it_does(model, ap::MeanSquaredError{});
  counts_what_it_does(model, ap::MeanAbsoluteError{});
  counts_what_it_does(model, ap::SoftCrossEntropy{});
  counts_what_it_does(model, ap::ClassWeights(ap::SoftmaxCrossEntropy{}, {1.0, 2.0, 0.5}));
}

TEST_CASE("layers without a bias report the operations they execute") {
  const ap::Conv2d conv{.filters = 4, .padding = 1, .bias = false};
  counts_what_it_does(ap::Model(ap::Shape{4, 3, 2}, conv, ap::Relu{}, conv, ap::Dense{.units = 3, .bias = false}));
}
