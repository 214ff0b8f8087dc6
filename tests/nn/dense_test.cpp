#include "algoperf/nn/layers/dense.hpp"

#include <algorithm>

#include "../support/near.hpp"
#include "algoperf/nn/layers/conv2d.hpp"
#include "algoperf/nn/layers/relu.hpp"
#include "runner.hpp"

using namespace nn_test;

namespace {

static_assert(ap::Layer<ap::Dense> && ap::Layer<ap::Relu>);

constexpr ap::Model affine(ap::Shape{28, 28, 1}, ap::Dense{.units = 10});
static_assert(affine.cost() == ap::Cost{7850, 15690, 15690, 10});  // 784 * 10 + 10; twice 784 * 10, plus the bias
static_assert(cost_of(ap::Dense{.units = 10}, affine.input()).backward_flops == 2 * 15680 + 10);

TEST_CASE_TEMPLATE("dense: golden", B, NN_BACKENDS) {
  const ap::Model model(ap::Shape{3}, ap::Dense{.units = 2});
  Start start{1, 1, Numbers(32), {1, 2, 3}, {1, -1}};
  const double weight[] = {1, 0, -1, 2, 1, 0}, bias[] = {0.5, -0.5};
  std::copy(weight, weight + 6, start.values.begin());
  std::copy(bias, bias + 2, start.values.begin() + 16);
  const Outcome found = run<B>(model, start);
  CHECK(found.outputs == Numbers{-1.5, 3.5});
  CHECK(Numbers(found.gradients.begin(), found.gradients.begin() + 6) == Numbers{1, 2, 3, -1, -2, -3});
  CHECK(Numbers(found.gradients.begin() + 16, found.gradients.begin() + 18) == Numbers{1, -1});
  CHECK(found.d_input == Numbers{-1, -1, -1});
}

TEST_CASE_TEMPLATE("dense: gradients", B, NN_BACKENDS) {
  check_model<B>(ap::Model(ap::Shape{5}, ap::Dense{.units = 4}));
  check_model<B>(ap::Model(ap::Shape{2, 3, 2}, ap::Dense{.units = 17}, Softsign{}, ap::Dense{.units = 3}));
  check_model<B>(ap::Model(ap::Shape{5}, ap::Dense{.units = 4}), {.batch = 2, .capacity = 7});
}

constexpr ap::Model linear(ap::Shape{28, 28, 1}, ap::Dense{.units = 10, .bias = false});
static_assert(linear.cost() == ap::Cost{7840, 15680, 15680, 10});

TEST_CASE_TEMPLATE("dense: without a bias", B, NN_BACKENDS) {
  const ap::Model model(ap::Shape{3}, ap::Dense{.units = 2, .bias = false});
  const ap::Layout layout = ap::layout_of(model);
  CHECK(layout.tensors().size() == 1);
  Start start{1, 1, Numbers(16), {1, 2, 3}, {1, -1}};
  const double weight[] = {1, 0, -1, 2, 1, 0};
  std::copy(weight, weight + 6, start.values.begin());
  const Outcome found = run<B>(model, start);
  CHECK(found.outputs == Numbers{-2, 4});
  CHECK(Numbers(found.gradients.begin(), found.gradients.begin() + 6) == Numbers{1, 2, 3, -1, -2, -3});
  const ap::Dense hidden{.units = 17, .bias = false};
  check_model<B>(ap::Model(ap::Shape{2, 3, 2}, hidden, Softsign{}, ap::Dense{.units = 3}));
}

TEST_CASE_TEMPLATE("relu: gradients and NaN", B, NN_BACKENDS) {
  check_model<B>(ap::Model(ap::Shape{5}, ap::Relu{}, ap::Dense{.units = 4}, ap::Relu{}));
  const Outcome found = run<B>(ap::Model(ap::Shape{21}, ap::Relu{}), {1, 1, {}, Numbers(21, NAN), {}});
  for (const double y : found.outputs) CHECK(std::isnan(y));
}

TEST_CASE_TEMPLATE("loss: weights and label smoothing", B, NN_BACKENDS) {
  const ap::Model model(ap::Shape{5}, ap::Dense{.units = 6}, ap::Relu{}, ap::Dense{.units = 4});
  check_model<B>(model, {.batch = 4, .weights = {1, 0, 2.5, 0.25}}, 0.1);
  check_model<B>(model, {.batch = 4, .capacity = 6, .weights = {0, 0, 0, 1}});
  check_model<B>(model, {.batch = 2, .weights = {0, 0}});
}

TEST_CASE("dense: initial values") {
  const auto variance = [](ap::Init init) {
    return first_variance(ap::Model(ap::Shape{200}, ap::Dense{.units = 300, .init = init}), "0.weight");
  };
  CHECK(variance(ap::Init::he_normal) == near(2.0 / 200, 0.02));
  CHECK(variance(ap::Init::lecun_normal) == near(1.0 / 200, 0.02));
  CHECK(variance(ap::Init::glorot_uniform) == near(2.0 / 500, 0.02));
  CHECK(variance(ap::Init::torch_uniform) == near(1.0 / 600, 0.02));
  CHECK(variance(ap::Init::unit_normal) == near(1, 0.02));
  CHECK(variance(ap::Init::zeros) == 0);
  CHECK(variance(ap::Init::standard.divide_variance(4)) == near(2.0 / 200 / 4, 0.02));
  CHECK(variance(ap::Init::glorot_normal) == near(2.0 / 500, 0.02));
  CHECK(variance(ap::Init::fan_out_normal) == near(1.0 / 300, 0.02));
  CHECK(variance(ap::Init::normal(0.3)) == near(0.09, 0.02));
  CHECK(variance(ap::Init::uniform(2, 5)) == near(9.0 / 12 + 3.5 * 3.5, 0.02));  // the mean of squares
  CHECK(variance(ap::Init::constant(3)) == 9);
  CHECK(first_variance(affine, "0.bias") == 0);
}

TEST_CASE("a model sets the initial values of the layers that leave them to it") {
  const ap::Model model(ap::Shape{400}, ap::Dense{.units = 300}, ap::Relu{},
                        ap::Dense{.units = 100, .init = ap::Init::lecun_normal});
  CHECK(first_variance(model, "0.weight") == near(2.0 / 400, 0.02));
  const auto as_torch = model.with_init(ap::Init::torch_uniform);
  CHECK(first_variance(as_torch, "0.weight") == near(1.0 / 3 / 400, 0.02));
  CHECK(first_variance(as_torch, "2.weight") == near(1.0 / 300, 0.05));
  CHECK(first_variance(as_torch.with_init(ap::Init::standard), "0.weight") == first_variance(model, "0.weight"));
  const ap::Model images(ap::Shape{9, 9, 16}, ap::Conv2d{.filters = 64});
  CHECK(first_variance(images, "0.weight") == near(2.0 / 144, 0.05));
  CHECK(first_variance(images.with_init(ap::Init::unit_normal), "0.weight") == near(1, 0.05));
}

TEST_CASE("dense: errors name the layer") {
  CHECK(declare_error(ap::Model(ap::Shape{3}, ap::Dense{.units = 0})) == "0: Dense has units 0, expected at least 1");
}

}  // namespace
