// RotaryPositions and QueryKeyNorm: values, gradients, costs and mistakes.
#include "../support/check_error.hpp"
#include "algoperf/nn/all.hpp"
#include "algoperf/nn/graph/graph_cost.hpp"
#include "runner.hpp"

using namespace nn_test;
using ap::Value;

namespace of_rotary {
namespace {

constexpr std::size_t examples = 2, rows = 5, heads = 2, size = 4, width = heads * size;

// The outputs of part(net, x) for a field "x" of queries, keys and values, with the shared tensors at `parameter`.
template <class B, class Part>
Numbers output_rows(const Part& part, const Numbers& x, double parameter = 1) {
  using S = typename B::Scalar;
  const B backend;
  const ap::RecordedModel<B> recorded([&](auto& net) {
    const Value y = part(net, net.field("x", {3 * width}, net.axis("time", rows)));
    net.keep(y);
    return y;
  });
  ap::GraphExecutor<B> executor(backend, recorded, examples + 1, {.training = false});
  const auto in = to_backend<S>(backend, x), values = to_backend<S>(backend, Numbers(16, parameter));
  executor.bind(recorded.field("x").value, in.data());
  ap::GraphPass<B> pass;
  pass.values = values.data();
  pass.examples = examples;
  pass.mode = ap::Mode::evaluate;
  executor.forward(pass);
  return from_backend(backend, x.size(), executor.result(recorded.outputs(), ap::Mode::evaluate));
}
constexpr ap::RotaryPositions rotary{.size = size, .columns = 2 * width, .base = 100};

TEST_CASE_TEMPLATE("rotary positions: values", B, NN_BACKENDS) {
  const Numbers x = normals(examples * rows * 3 * width, 1);
  Numbers expected = x;
  for (std::size_t r = 0; r < examples * rows; ++r)
    for (std::size_t c = 0; c < 2 * width; c += 2) {
      const double angle = static_cast<double>(r % rows) * std::pow(100, -static_cast<double>(c % size) / size);
      double *const a = expected.data() + r * 3 * width + c, *const b = a + 1;
      const double x_a = *a, x_b = *b;
      *a = x_a * std::cos(angle) - x_b * std::sin(angle);
      *b = x_a * std::sin(angle) + x_b * std::cos(angle);
    }
  const auto part = [](auto& net, Value v) { return net(rotary, v); };
  CHECK(distance(output_rows<B>(part, x), expected) < tolerance<B>());
  // In place: the field itself must not change.
  const auto after_copy = [](auto& net, Value v) { return net(rotary, net(ap::Sum{}, v, v)); };
  for (double& v : expected) v *= 2;
  CHECK(distance(output_rows<B>(after_copy, x), expected) < tolerance<B>());
}

TEST_CASE("rotary positions: products depend on the difference of positions, and all columns rotate by default") {
  // Each row has the same queries and keys.
  Numbers x;
  const Numbers row = normals(3 * width, 2);
  for (std::size_t r = 0; r < examples * rows; ++r) x.insert(x.end(), row.begin(), row.end());
  const Numbers y =
      output_rows<ap::Host<double>>([](auto& net, Value v) { return net(ap::RotaryPositions{.size = size}, v); }, x);
  const auto product = [&](std::size_t query, std::size_t key, std::size_t head) {
    double sum = 0;
    for (std::size_t c = 0; c < size; ++c)
      sum += y[query * 3 * width + head * size + c] * y[key * 3 * width + (heads + head) * size + c];
    return sum;
  };
  for (std::size_t head = 0; head < heads; ++head) {
    CHECK(product(3, 1, head) == doctest::Approx(product(2, 0, head)));
    CHECK(product(3, 1, head) == doctest::Approx(product(4, 2, head)));
    CHECK(std::abs(product(3, 1, head) - product(3, 2, head)) > 1e-3);
  }
  CHECK(std::abs(y[3 * width + 2 * width] - row[2 * width]) > 1e-3);
}

TEST_CASE_TEMPLATE("query and key norm: values", B, NN_BACKENDS) {
  Numbers x = normals(examples * rows * 3 * width, 3);
  for (std::size_t c = 0; c < size; ++c) x[c] = x[width + c] = 0;  // a query and a key of zeros
  Numbers expected = x;
  const double eps = 0.01, scale = 3;
  for (std::size_t r = 0; r < examples * rows; ++r)
    for (std::size_t k = 0; k < 2 * heads; ++k) {
      double* const from = expected.data() + r * 3 * width + k * size;
      double square = 0;
      for (std::size_t c = 0; c < size; ++c) square += from[c] * from[c];
      for (std::size_t c = 0; c < size; ++c) from[c] *= (k < heads ? scale : 1) / (std::sqrt(square) + eps);
    }
  const ap::QueryKeyNorm norm{.heads = heads, .eps = eps};
  CHECK(distance(output_rows<B>([&](auto& net, Value v) { return net(norm, v); }, x, scale), expected) <
        tolerance<B>());
}

// A loss of what `part` makes of a hidden value of queries, keys and values.
template <class Part>
auto checked(const Part& part) {
  return [part](auto& net) {
    const ap::GraphIndex time = net.axis("time", rows);
    const Value x = net("in", ap::Dense{.units = 3 * width}, net.field("x", {3}, time));
    return net(ap::LossOf(ap::SoftmaxCrossEntropy{}), net("out", ap::Dense{.units = 3}, part(net, x)),
               net.tokens("label", {1}, time));
  };
}
template <class Part>
void check_gradients(const Part& part) {
  ap::testing::check_error(ap::gradient_check(checked(part), {.batch = 2, .capacity = 3}));
}

constexpr ap::QueryKeyNorm norm{.heads = heads, .eps = 0.3, .init = ap::Init::constant(2)};

TEST_CASE("rotary positions and query and key norm: gradients, in place or not") {
  check_gradients([](auto& net, Value x) { return net("rotary", rotary, x); });
  check_gradients([](auto& net, Value x) { return net("norm", norm, x); });
  check_gradients([](auto& net, Value x) { return net("norm", norm, net("rotary", rotary, x)); });
  // The input has another reader, before or after.
  check_gradients([](auto& net, Value x) { return net(ap::Product{}, net("rotary", rotary, x), x); });
  check_gradients([](auto& net, Value x) { return net(ap::Product{}, net("norm", norm, x), x); });
  // Both inputs of the sum share its gradient.
  check_gradients([](auto& net, Value x) {
    const Value other = net("other", ap::Dense{.units = 3 * width}, x);
    return net(ap::Sum{}, other, net("rotary", rotary, x));
  });
  check_gradients([](auto& net, Value x) {
    const Value other = net("other", ap::Dense{.units = 3 * width}, x);
    return net(ap::Sum{}, other, net("norm", norm, x));
  });
}

TEST_CASE("query and key norm: two ops share a scale, and only the scale is trained") {
  const auto shared = [](auto& net, Value x) {
    const ap::SharedTensor scale = net.tensor("scale", ap::Kind::layer_norm_scale, {1}, ap::Init::constant(2));
    const ap::detail::QueryKeyNormOp op{heads, 0.1, scale};
    return net(op, net("middle", ap::Dense{.units = 3 * width}, net(op, x)));
  };
  check_gradients(shared);
  const auto only_scale = [](auto& net) {
    const ap::GraphIndex time = net.axis("time", rows);
    const Value y = net("norm", norm, net.field("x", {3 * width}, time));
    return net(ap::LossOf(ap::SoftmaxCrossEntropy{}), y, net.tokens("label", {1}, time));
  };
  CHECK(ap::gradient_check(only_scale, {.batch = 2}).error < 1e-6);
}

TEST_CASE("query and key norm: a scale of 0 and rows of zeros give finite gradients") {
  const auto gradients = [](double scale, double x) {
    using B = ap::Host<double>;
    const B backend;
    const auto model = [](auto& net) {
      const ap::GraphIndex time = net.axis("time", rows);
      const Value y = net("norm", norm, net.field("x", {3 * width}, time));
      return net(ap::LossOf(ap::SoftmaxCrossEntropy{}), y, net.tokens("label", {1}, time));
    };
    const ap::RecordedModel<B> recorded(model, true);
    ap::GraphExecutor<B> executor(backend, recorded, 1);
    Numbers values(recorded.layout().size(), scale), in(rows * 3 * width, x), weights(rows, 1.0), d(values.size());
    const std::vector<std::int32_t> labels(rows, 1);
    executor.bind(recorded.field("x").value, in.data());
    executor.bind(recorded.field("label").value, labels.data());
    ap::GraphPass<B> pass;
    pass.values = values.data();
    pass.gradients = d.data();
    pass.examples = 1;
    pass.weights = weights.data();
    executor.forward(pass);
    executor.backward(pass);
    return d[0];
  };
  CHECK(gradients(0, 1) == 0);
  CHECK(gradients(2, 0) == 0);
  CHECK(std::abs(gradients(2, 1)) > 1e-3);
}

constexpr ap::Cost cost_of_rows(const auto& part) {
  return ap::model_cost([&](auto& net) {
    const Value x = net("in", ap::Dense{.units = 3 * width, .bias = false}, net.field("x", {1}, net.axis("t", rows)));
    return part(net, x);
  });
}
constexpr std::uint64_t dense_flops = 2 * rows * 3 * width, rotated = rows * 2 * width;
static_assert(cost_of_rows([](auto& net, Value x) { return net(rotary, x); }).forward_flops ==
              dense_flops + 3 * rotated);
static_assert(cost_of_rows([](auto& net, Value x) { return net(rotary, x); }).backward_flops ==
              dense_flops + 3 * rotated);
static_assert(cost_of_rows([](auto& net, Value x) { return net(norm, x); }).forward_flops ==
              dense_flops + 3 * rotated + 6 * rows * heads);
static_assert(cost_of_rows([](auto& net, Value x) { return net(norm, x); }).backward_flops ==
              dense_flops + 5 * rotated + 10 * rows * heads);

TEST_CASE("rotary positions and query and key norm: mistakes name the op") {
  const auto sentence_of = [](const auto& part, std::size_t columns, bool axis = true) {
    ap::Recorder<> net;
    try {
      part(net, axis ? net.field("x", {columns}, net.axis("time", rows)) : net.field("x", {columns}));
    } catch (const ap::Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto turn = [](const ap::RotaryPositions& op) { return [op](auto& net, Value x) { net("turn", op, x); }; };
  CHECK(sentence_of(turn({.size = 4}), 12).empty());
  CHECK(sentence_of(turn({.size = 4}), 12, false) ==
        "turn: expected several rows per example, got shape {12} on the axis 'examples'");
  CHECK(sentence_of(turn({.size = 3}), 12) == "turn: size is 3, expected an even number of at least 2");
  CHECK(sentence_of(turn({}), 12) == "turn: size is 0, expected an even number of at least 2");
  CHECK(sentence_of(turn({.size = 8}), 12) ==
        "turn: columns is 12, expected a multiple of the size, 8, of at most the width, 12");
  CHECK(sentence_of(turn({.size = 4, .columns = 16}), 12) ==
        "turn: columns is 16, expected a multiple of the size, 4, of at most the width, 12");
  CHECK(sentence_of(turn({.size = 4, .base = 0}), 12) == "turn: base is not positive");
  const auto norms = [](const ap::QueryKeyNorm& block) {
    return [block](auto& net, Value x) { net("norms", block, x); };
  };
  CHECK(sentence_of(norms({.heads = 2}), 12).empty());
  CHECK(sentence_of(norms({.heads = 3}), 12) ==
        "norms.query_key_norm: the input has shape {12}, expected queries, keys and values, each of a width that the "
        "number of heads, 3, divides");
  CHECK(sentence_of(norms({.heads = 0}), 12) ==
        "norms.query_key_norm: the input has shape {12}, expected queries, keys and values, each of a width that the "
        "number of heads, 0, divides");
  CHECK(sentence_of(norms({.heads = 2, .eps = -1}), 12) == "norms.query_key_norm: eps is not positive");
}

}  // namespace
}  // namespace of_rotary
