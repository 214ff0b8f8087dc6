// Compares layers and losses with the rows of tests/golden/layers.hpp, and checks that every row is used.
#include "../golden/layers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include "algoperf/nn/all.hpp"
#include "runner.hpp"

using namespace nn_test;

namespace {

template <class Row, std::size_t n>
const Row& row_of(const Row (&rows)[n], const char* name) {
  for (const Row& row : rows)
    if (std::strcmp(row.name, name) == 0) return row;
  throw std::runtime_error(std::string("no golden row ") + name);
}

Numbers read(const ap::Layout& layout, const char* tensor, const Numbers& arena) {
  const ap::TensorPlace at = layout.place_of(layout.find(std::string("0.") + tensor));
  const auto begin = arena.begin() + static_cast<std::ptrdiff_t>(at.offset);
  return {begin, begin + static_cast<std::ptrdiff_t>(at.size)};
}

Numbers values_of(const ap::Layout& layout, const golden::Layer& row) {
  Numbers values(layout.size());
  for (const golden::Tensor& tensor : row.tensors) {
    const ap::TensorPlace at = layout.place_of(layout.find(std::string("0.") + tensor.name));
    REQUIRE(at.size == tensor.values.size());
    std::copy(tensor.values.begin(), tensor.values.end(), values.begin() + static_cast<std::ptrdiff_t>(at.offset));
  }
  return values;
}

int claimed = 0;

template <class B, class Layer>
void check(const char* name, ap::Shape in, const Layer& layer) {
  const golden::Layer& row = row_of(golden::layers, name);
  INFO(name, ": ", row.reference);
  const ap::Model model(in, layer);
  const ap::Layout layout = ap::layout_of(model);
  const Outcome found = run<B>(model, {row.batch, row.batch + 2, values_of(layout, row), row.input, row.d_outputs});
  CHECK(distance(found.outputs, row.outputs) < tolerance<B>());
  CHECK(distance(found.d_input, row.d_input) < tolerance<B>());
  for (const golden::Tensor& tensor : row.tensors) {
    INFO(tensor.name);
    CHECK(distance(read(layout, tensor.name, found.gradients), tensor.gradient) < tolerance<B>());
  }
  ++claimed;
}

// Compares values and gradients element by element, including small ones. The tolerance covers the rounding of a float,
// and for double the difference to torch's rounding.
template <class B, class Layer>
void check_activation(const char* name, const Layer& layer) {
  const golden::Layer& row = row_of(golden::layers, name);
  check<B>(name, {row.input.size()}, layer);
  const Outcome found = run<B>(ap::Model(ap::Shape{row.input.size()}, layer), {1, 1, {}, row.input, row.d_outputs});
  const double close = std::is_same_v<typename B::Scalar, double> ? 1e-14 : 5e-7;
  for (std::size_t i = 0; i < row.input.size(); ++i) {
    INFO(name, " at ", row.input[i]);
    CHECK(std::abs(found.outputs[i] - row.outputs[i]) <= close * (0.01 + std::abs(row.outputs[i])));
    CHECK(std::abs(found.d_input[i] - row.d_input[i]) <= close * (1 + std::abs(row.d_input[i])));
  }
}

// Checks that evaluation uses the running averages.
template <class B>
void check_evaluated_batch_norm() {
  using S = typename B::Scalar;
  const golden::Layer& row = row_of(golden::layers, "batch_norm_evaluated");
  const ap::BatchNorm norm;
  const ap::Shape in{2, 1, 4};
  ap::Layout layout;
  const auto handles = norm.declare(layout, "0", in);
  const B backend{};
  const auto values = to_backend<S>(backend, values_of(layout, row)), x = to_backend<S>(backend, row.input);
  auto y = backend.template array<S>(row.input.size()),
       exact = backend.template array<S>(norm.memory(in).exact * row.batch);
  const ap::LayerCall<B> call{backend, layout,  values.data(), nullptr,     row.batch, row.batch, ap::Mode::evaluate,
                              {},      nullptr, nullptr,       exact.data()};
  norm.forward(call, handles, in, x.data(), y.data());
  CHECK(distance(from_backend(backend, row.input.size(), y.data()), row.outputs) < tolerance<B>());
  ++claimed;
}

TEST_CASE_TEMPLATE("golden: layers", B, NN_BACKENDS) {
  claimed = 0;
  const ap::Shape shape{5, 4, 2};
  check<B>("dense", {5}, ap::Dense{.units = 4});
  check<B>("conv2d", shape, ap::Conv2d{.filters = 3, .size = 3, .stride = 2, .padding = 1});
  check<B>("depthwise_conv2d", shape, ap::DepthwiseConv2d{.size = 3, .stride = 2, .padding = 1});
  check<B>("max_pool", shape, ap::MaxPool{.size = 3, .stride = 2});
  check<B>("average_pool", shape, ap::AveragePool{.size = 3, .stride = 2});
  check<B>("layer_norm", {2, 5}, ap::LayerNorm{});
  check<B>("rms_norm", {2, 5}, ap::RmsNorm{});
  check<B>("glu", {2, 10}, ap::Glu{});
  check<B>("group_norm", {3, 2, 4}, ap::GroupNorm{.groups = 2});
  check<B>("batch_norm", {2, 1, 4}, ap::BatchNorm{});
  check_evaluated_batch_norm<B>();
  check_activation<B>("relu", ap::Relu{});
  check_activation<B>("leaky_relu", ap::LeakyRelu{.slope = 0.2});
  check_activation<B>("tanh", ap::Tanh{});
  check_activation<B>("silu", ap::Silu{});
  check_activation<B>("gelu", ap::Gelu{});
  check_activation<B>("gelu_tanh", ap::GeluTanh{});
  CHECK(claimed == std::size(golden::layers));
}

template <class B, class Label, class Loss>
void check_loss(const char* name, const Loss& loss) {
  using S = typename B::Scalar;
  const golden::Loss& row = row_of(golden::losses, name);
  INFO(name, ": ", row.reference);
  const B backend{};
  const std::size_t batch = row.losses.size(), outputs = row.outputs.size();
  const auto z = to_backend<S>(backend, row.outputs), weights = to_backend<S>(backend, row.weights);
  const auto labels = to_backend<Label>(backend, row.labels);
  auto losses = backend.template array<S>(batch);
  auto d = backend.template array<S>(outputs);
  loss.write(backend, batch, outputs / batch, z.data(), labels.data(), weights.data(), losses.data(), d.data());
  CHECK(distance(from_backend(backend, batch, losses.data()), row.losses) < tolerance<B>());
  CHECK(distance(from_backend(backend, outputs, d.data()), row.d_outputs) < tolerance<B>());
  ++claimed;
}

TEST_CASE_TEMPLATE("golden: losses", B, NN_BACKENDS) {
  using Class = std::int32_t;
  claimed = 0;
  check_loss<B, Class>("softmax", ap::SoftmaxCrossEntropy{});
  check_loss<B, Class>("softmax_smoothed", ap::SoftmaxCrossEntropy{.label_smoothing = 0.1});
  check_loss<B, Class>("sigmoid_smoothed", ap::SigmoidCrossEntropy{.label_smoothing = 0.1});
  check_loss<B, Class>("sigmoid_of_one", ap::SigmoidCrossEntropy{});
  check_loss<B, typename B::Scalar>("binary", ap::BinaryCrossEntropy{});
  check_loss<B, typename B::Scalar>("mean_squared_error", ap::MeanSquaredError{});
  CHECK(claimed == std::size(golden::losses));
}

}  // namespace
