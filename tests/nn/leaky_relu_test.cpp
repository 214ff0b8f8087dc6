#include "algoperf/nn/layers/leaky_relu.hpp"

#include "algoperf/nn/layers/dense.hpp"
#include "algoperf/nn/layers/relu.hpp"
#include "runner.hpp"

using namespace nn_test;

namespace {

static_assert(ap::Layer<ap::LeakyRelu>);
static_assert(cost_of(ap::LeakyRelu{}, {3, 5}) == ap::Cost{0, 30, 30, 15});

TEST_CASE_TEMPLATE("leaky relu: equals relu for slope 0", B, NN_BACKENDS) {
  const Outcome relu = run<B>(ap::Model(ap::Shape{13}, ap::Relu{}));
  const Outcome leaky = run<B>(ap::Model(ap::Shape{13}, ap::LeakyRelu{.slope = 0}));
  CHECK(leaky.outputs == relu.outputs);
  CHECK(leaky.d_input == relu.d_input);
}

TEST_CASE_TEMPLATE("leaky relu: gradients", B, NN_BACKENDS) {
  for (const double slope : {0.01, 0.3, 2.0}) {
    INFO("slope ", slope);
    const ap::LeakyRelu layer{.slope = slope};
    check_model<B>(ap::Model(ap::Shape{5, 7}, layer), {.batch = 3, .capacity = 4});
    check_model<B>(ap::Model(ap::Shape{6}, ap::Dense{.units = 19}, layer, ap::Dense{.units = 4}, layer));
  }
}

TEST_CASE_TEMPLATE("leaky relu: infinities and NaN", B, NN_BACKENDS) {
  const Numbers y =
      run<B>(ap::Model(ap::Shape{3}, ap::LeakyRelu{}), {1, 1, {}, {-INFINITY, INFINITY, NAN}, {}}).outputs;
  CHECK(y[0] == -INFINITY);
  CHECK(y[1] == INFINITY);
  CHECK(std::isnan(y[2]));
}

TEST_CASE("leaky relu: invalid slopes are rejected") {
  CHECK(declare_error(ap::Model(ap::Shape{4}, ap::LeakyRelu{.slope = -0.5})) ==
        "0: LeakyRelu has slope -0.5, expected at least 0");
  CHECK(declare_error(ap::Model(ap::Shape{4}, ap::LeakyRelu{.slope = NAN})) ==
        "0: LeakyRelu has slope nan, expected at least 0");
}

}  // namespace
