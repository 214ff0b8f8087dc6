// Ops of several inputs or outputs: values, gradients and costs.
#include "../support/check_error.hpp"
#include "algoperf/nn/all.hpp"
#include "algoperf/nn/graph/graph_cost.hpp"
#include "algoperf/nn/ops/concat.hpp"
#include "algoperf/nn/ops/product.hpp"
#include "algoperf/nn/ops/split.hpp"
#include "runner.hpp"

using namespace nn_test;
using ap::Value;

namespace of_ops {
namespace {

// The outputs of a model of the fields "a" and "b" for one example.
template <class B, class ModelFunction>
Numbers output_rows(const ModelFunction& model, const Numbers& a, const Numbers& b) {
  using S = typename B::Scalar;
  const B backend;
  const ap::RecordedModel<B> recorded([&](auto& net) {
    const Value y = model(net);
    net.keep(y);
    return y;
  });
  ap::GraphExecutor<B> executor(backend, recorded, 1, {.training = false});
  const auto x = to_backend<S>(backend, a), z = to_backend<S>(backend, b);
  for (const auto& info : recorded.graph().values) {
    if (std::string(info.field) == "a") executor.bind(info.value, x.data());
    if (std::string(info.field) == "b") executor.bind(info.value, z.data());
  }
  executor.forward({.examples = 1, .mode = ap::Mode::evaluate});
  const Value& y = recorded.outputs();
  return from_backend(backend, y.shape.size(), executor.result(y, ap::Mode::evaluate));
}

TEST_CASE_TEMPLATE("ops: values", B, NN_BACKENDS) {
  const Numbers a{1, 2, 3, 4, 5, 6}, b{10, 20, 30, 40, 50, 60};
  const auto field = [](auto& net, const char* name) { return net.field(name, {2, 3}); };
  CHECK(output_rows<B>([&](auto& net) { return net(ap::Sum{}, field(net, "a"), field(net, "b")); }, a, b) ==
        Numbers{11, 22, 33, 44, 55, 66});
  CHECK(output_rows<B>([&](auto& net) { return net(ap::Product{}, field(net, "a"), field(net, "b")); }, a, b) ==
        Numbers{10, 40, 90, 160, 250, 360});
  CHECK(output_rows<B>([&](auto& net) { return net(ap::Concat{}, field(net, "b"), field(net, "a")); }, a, b) ==
        Numbers{10, 20, 30, 1, 2, 3, 40, 50, 60, 4, 5, 6});
  CHECK(output_rows<B>([&](auto& net) { return net(ap::Split{.first = 1}, field(net, "a"))[0]; }, a, b) ==
        Numbers{1, 4});
  CHECK(output_rows<B>([&](auto& net) { return net(ap::Split{.first = 1}, field(net, "a"))[1]; }, a, b) ==
        Numbers{2, 3, 5, 6});
  const auto rows = [](auto& net) { return net.reshape(net.field("a", {2, 3}), {3, 2}); };  // 1 2, 3 4, 5 6
  CHECK(output_rows<B>([&](auto& net) { return net(ap::DotInteractions{}, rows(net)); }, a, b) ==
        Numbers{5, 11, 17, 25, 39, 61});
}

// A loss of what `part` makes of two hidden values of shape {2, 3}.
template <class Part>
struct Checked {
  Part part;
  template <class Net>
  Value operator()(Net& net) const {
    const ap::Dense six{.units = 6};
    const Value a = net.reshape(net("a", six, net.field("x", {5})), {2, 3});
    const Value b = net.reshape(net("b", six, net.field("y", {4})), {2, 3});
    return net(ap::LossOf(ap::SoftmaxCrossEntropy{}), part(net, a, b), net.tokens("label"));
  }
};
template <class Part>
void check_gradients(const Part& part) {
  ap::testing::check_error(ap::gradient_check(Checked<Part>{part}, {.batch = 3, .capacity = 4}));
}

TEST_CASE("ops: gradients") {
  check_gradients([](auto& net, Value a, Value b) { return net(ap::Sum{}, a, b); });
  check_gradients([](auto& net, Value a, Value) { return net(ap::Sum{}, a, a); });
  check_gradients([](auto& net, Value a, Value b) { return net(ap::Product{}, a, b); });
  check_gradients([](auto& net, Value a, Value) { return net(ap::Product{}, a, a); });
  check_gradients([](auto& net, Value a, Value b) { return net(ap::Concat{}, a, b, a); });
  check_gradients([](auto& net, Value a, Value) { return net(ap::Split{.first = 2}, a)[0]; });
  check_gradients([](auto& net, Value a, Value b) {
    const auto [left, right] = net(ap::Split{.first = 2}, a);
    return net(ap::Sum{}, net(ap::Concat{}, right, left), net(ap::Product{}, net(ap::Tanh{}, b), a));
  });
  check_gradients([](auto& net, Value a, Value) { return net(ap::DotInteractions{}, a); });
  check_gradients([](auto& net, Value a, Value) { return net(ap::DotInteractions{}, net.reshape(a, {1, 6})); });
  check_gradients([](auto& net, Value a, Value) { return net(ap::DotInteractions{}, net.reshape(a, {6, 1})); });
  check_gradients([](auto& net, Value a, Value b) {
    return net(ap::DotInteractions{}, net.reshape(net(ap::Concat{}, a, b), {4, 3}));
  });
  // A table that is looked up twice and is the weight of the logits, without a bias.
  const auto tied = [](auto& net) {
    const ap::SharedTensor table = net.tensor("table", ap::Kind::embedding, {5, 4}, ap::Init::unit_normal, 4);
    const ap::LookUp look_up{.table = table, .vocabulary = 5, .width = 4};
    const Value x = net.reshape(net(look_up, net.tokens("s")), {4}),
                y = net.reshape(net(look_up, net.tokens("t")), {4});
    const Value h = net(ap::Tanh{}, net(ap::Dense{.units = 4}, net(ap::Sum{}, x, y)));
    return net(ap::LossOf(ap::SoftmaxCrossEntropy{}),
               net(ap::TiedLogits{.table = table, .vocabulary = 5, .width = 4}, h), net.tokens("label"));
  };
  ap::testing::check_error(ap::gradient_check(tied, {.samples = 0}));
}

// A table of 5 rows, and a dense layer that two ops share, over 3 tokens and over one.
TEST_CASE("LookUpDense: the gradients of shared tensors agree with differences") {
  const auto model = [](auto& net) {
    const ap::SharedTensor bias = net.tensor("bias", ap::Kind::bias, {4}, ap::Init::zeros);
    const ap::LookUp rows{
        .table = net.tensor("table", ap::Kind::embedding, {5, 3}, ap::Init::unit_normal), .vocabulary = 5, .width = 3};
    const ap::SharedTensor weight = net.tensor("weight", ap::Kind::weight, {4, 3}, ap::Init::he_normal, 3, 4);
    const Value a = net(ap::LookUpDense{rows, weight, bias, 4}, net.tokens("s", {3}));
    const Value b = net(ap::LookUpDense{rows, weight, bias, 4}, net.tokens("t"));
    const Value both = net(ap::Concat{}, net.reshape(a, {12}), net.reshape(b, {4}));
    return net(ap::LossOf(ap::SoftmaxCrossEntropy{}), net(ap::Tanh{}, both), net.tokens("label"));
  };
  ap::testing::check_error(ap::gradient_check(model, {.samples = 0}));
}

// A vector that is the bias of the logits of two values, and is also repeated for each example.
TEST_CASE("TiedLogits and RepeatTensor: the gradients of shared tensors agree with differences") {
  const auto model = [](auto& net) {
    const ap::SharedTensor bias = net.tensor("bias", ap::Kind::bias, {5}, ap::Init::unit_normal);
    const ap::TiedLogits logits{.table = net.tensor("table", ap::Kind::embedding, {5, 3}, ap::Init::unit_normal),
                                .bias = bias,
                                .vocabulary = 5,
                                .width = 3};
    const ap::RepeatTensor repeat{bias, ap::examples_axis, 5};
    const Value a = net(logits, net("a", ap::Dense{.units = 3}, net.field("x", {2})));
    const Value b = net(logits, net("b", ap::Dense{.units = 3}, net.field("y", {2})));
    const Value c = net(ap::Product{}, net(repeat), net(ap::Tanh{}, net(repeat)));
    return net(ap::LossOf(ap::SoftmaxCrossEntropy{}), net(ap::Sum{}, a, net(ap::Product{}, b, c)), net.tokens("label"));
  };
  ap::testing::check_error(ap::gradient_check(model, {.samples = 0}));
}

TEST_CASE("LookUpDense: the cost of the table's product does not grow with the batch") {
  const auto model = [](auto& net) {
    const ap::SharedTensor table = net.tensor("table", ap::Kind::embedding, {5, 3}, ap::Init::unit_normal),
                           weight = net.tensor("weight", ap::Kind::weight, {4, 3}, ap::Init::he_normal, 3, 4),
                           bias = net.tensor("bias", ap::Kind::bias, {4}, ap::Init::zeros);
    const ap::LookUp rows{.table = table, .vocabulary = 5, .width = 3};
    return net(ap::LookUpDense{rows, weight, bias, 4}, net.tokens("s", {3}));
  };
  constexpr std::uint64_t forward = (2 * 3 + 1) * 5 * 4, backward = (4 * 3 + 1) * 5 * 4, outputs = 3 * 4;
  for (const std::uint64_t examples : {1u, 7u}) {
    const ap::Cost cost = ap::model_cost(model, {}, examples);
    CHECK(cost.forward_flops == forward);
    CHECK(cost.backward_flops == backward + examples * outputs);
  }
}

// The cost of part(a, b), where both values need gradients.
template <class Part>
constexpr ap::Cost cost_of_part(const Part& part) {
  const auto model = [&](auto& net) {
    const Value a = net(ap::Dense{.units = 6, .bias = false}, net.field("x", {1}));
    const Value b = net(ap::Dense{.units = 6, .bias = false}, net.field("y", {1}));
    return part(net, a, b);
  };
  ap::Cost cost = ap::model_cost(model);
  cost.forward_flops -= 2 * 2 * 6;
  cost.backward_flops -= 2 * 2 * 6;
  return cost;
}
constexpr ap::Cost sum = cost_of_part([](auto& net, Value a, Value b) { return net(ap::Sum{}, a, b); });
static_assert(sum.forward_flops == 6 && sum.backward_flops == 0);  // both inputs share the gradient
constexpr ap::Cost product = cost_of_part([](auto& net, Value a, Value b) { return net(ap::Product{}, a, b); });
static_assert(product.forward_flops == 6 && product.backward_flops == 12);
constexpr ap::Cost concat = cost_of_part([](auto& net, Value a, Value b) { return net(ap::Concat{}, a, b); });
static_assert(concat.forward_flops == 0 && concat.backward_flops == 0);
constexpr ap::Cost dots = cost_of_part([](auto& net, Value a, Value b) {
  return net(ap::DotInteractions{}, net.reshape(net(ap::Sum{}, a, b), {3, 2}));
});
static_assert(dots.forward_flops - sum.forward_flops == 2 * 2 * 6 && dots.backward_flops == 2 * 2 * 9);

// A user's op without costs of its own: one FLOP per element of each input, forward and backward.
struct Negative {
  static constexpr const char* name = "negative";
  template <class Net>
  constexpr Value output(const Net&, ap::OpName, const std::array<Value, 1>& x) const {
    return x[0];
  }
  struct Minus {
    template <class T>
    ALGOPERF_HD T operator()(T, T x) const {
      return -x;
    }
  };
  template <class Call>
  void forward(const Call& call) const {
    call.pass.backend.map(Minus{}, call.rows(0) * call.in_shape(0).size(), call.out(), call.in(0));
  }
  template <class Call>
  void backward(const Call& call) const {
    if (call.d_in(0) != nullptr)
      call.pass.backend.map(Minus{}, call.rows(0) * call.in_shape(0).size(), call.d_in(0), call.d_out());
  }
};
constexpr ap::Cost negative =
    cost_of_part([](auto& net, Value a, Value b) { return net(Negative{}, net(ap::Sum{}, a, b)); });
static_assert(negative.forward_flops == 6 + 6 && negative.backward_flops == 6);

TEST_CASE("ops: a user's op") {
  check_gradients([](auto& net, Value a, Value b) { return net(Negative{}, net(ap::Sum{}, net(Negative{}, a), b)); });
}

}  // namespace
}  // namespace of_ops
