#include "algoperf/nn/layers/max_pool.hpp"

#include "algoperf/nn/layers/conv2d.hpp"
#include "algoperf/nn/layers/relu.hpp"
#include "runner.hpp"

using namespace nn_test;

namespace {

static_assert(ap::Layer<ap::MaxPool>);
static_assert(ap::MaxPool{}.output({28, 28, 32}) == ap::Shape{14, 14, 32});
static_assert(ap::MaxPool{}.output({5, 7, 3}) == ap::Shape{2, 3, 3});
static_assert(cost_of(ap::MaxPool{}, {28, 28, 32}) == ap::Cost{0, 2 * 3 * 6272, 0, 2 * 6272});

TEST_CASE_TEMPLATE("max pool: golden values; among equal values the first is chosen", B, NN_BACKENDS) {
  const ap::Model model(ap::Shape{2, 5, 1}, ap::MaxPool{});
  const Outcome found = run<B>(model, {1, 1, {}, {3, 3, 1, 2, 9, 3, 3, 4, 4, 9}, {5, 7}});
  CHECK(found.outputs == Numbers{3, 4});
  CHECK(found.d_input == Numbers{5, 0, 0, 0, 0, 0, 0, 7, 0, 0});
}

TEST_CASE_TEMPLATE("max pool: NaN is chosen over any value", B, NN_BACKENDS) {
  const ap::Model model(ap::Shape{2, 2, 1}, ap::MaxPool{});
  for (std::size_t i = 0; i < 4; ++i) {
    Start start{1, 1, {}, {1, 5, 2, 3}, {1}};
    start.input[i] = NAN;
    const Outcome found = run<B>(model, start);
    CHECK(std::isnan(found.outputs[0]));
    CHECK(found.d_input[i] == 1);
  }
}

TEST_CASE_TEMPLATE("max pool: overlapping windows share a maximum", B, NN_BACKENDS) {
  const ap::Model model(ap::Shape{3, 3, 1}, ap::MaxPool{.size = 2, .stride = 1});
  const Outcome found = run<B>(model, {1, 1, {}, {0, 0, 0, 0, 9, 0, 0, 0, 1}, {1, 2, 4, 8}});
  CHECK(found.outputs == Numbers{9, 9, 9, 9});
  CHECK(found.d_input == Numbers{0, 0, 0, 0, 15, 0, 0, 0, 0});
}

TEST_CASE_TEMPLATE("max pool: gradients", B, NN_BACKENDS) {
  const ap::Conv2d before{.filters = 18, .size = 1};
  for (const ap::MaxPool pool : {ap::MaxPool{}, ap::MaxPool{.size = 3, .stride = 2},
                                 ap::MaxPool{.size = 2, .stride = 3}, ap::MaxPool{.size = 1, .stride = 1}}) {
    INFO("size ", pool.size, " stride ", pool.stride);
    check_model<B>(ap::Model(ap::Shape{5, 7, 2}, pool), {.batch = 3, .capacity = 4});
    check_model<B>(ap::Model(ap::Shape{5, 6, 2}, before, ap::Relu{}, pool, Softsign{}), {.batch = 2});
    check_model<B>(ap::Model(ap::Shape{9, 8, 2}, before, pool, Softsign{}, pool), {.batch = 2});
  }
}

TEST_CASE("max pool: errors") {
  CHECK(declare_error(ap::Model(ap::Shape{1, 4, 1}, ap::MaxPool{})) ==
        "0: MaxPool has size 2 and padding 0, which does not fit examples of shape {1, 4, 1}");
}

}  // namespace
