#include "algoperf/nn/layers/average_pool.hpp"

#include "algoperf/nn/layers/conv2d.hpp"
#include "runner.hpp"

using namespace nn_test;

namespace {

static_assert(ap::Layer<ap::AveragePool>);
static_assert(ap::AveragePool{}.output({5, 7, 3}) == ap::Shape{2, 3, 3});
static_assert(cost_of(ap::AveragePool{}, {28, 28, 32}) == ap::Cost{0, 4 * 6272, 4 * 6272 + 25088, 6272});

TEST_CASE_TEMPLATE("average pool: values computed by hand", B, NN_BACKENDS) {
  const ap::Model model(ap::Shape{2, 5, 1}, ap::AveragePool{});
  const Outcome found = run<B>(model, {1, 1, {}, {3, 3, 1, 2, 9, 3, 3, 4, 5, 9}, {8, 4}});
  CHECK(found.outputs == Numbers{3, 3});
  CHECK(found.d_input == Numbers{2, 2, 1, 1, 0, 2, 2, 1, 1, 0});
}

TEST_CASE_TEMPLATE("average pool: a whole image, and overlapping windows", B, NN_BACKENDS) {
  const ap::Model whole(ap::Shape{2, 2, 2}, ap::AveragePool{});
  CHECK(run<B>(whole, {1, 1, {}, {1, 10, 2, 20, 3, 30, 6, 60}, {}}).outputs == Numbers{3, 30});
  const ap::Model overlapping(ap::Shape{3, 3, 1}, ap::AveragePool{.size = 2, .stride = 1});
  CHECK(run<B>(overlapping, {1, 1, {}, Numbers(9, 1), {4, 8, 12, 16}}).d_input == Numbers{1, 3, 2, 4, 10, 6, 3, 7, 4});
}

TEST_CASE_TEMPLATE("average pool: gradients", B, NN_BACKENDS) {
  for (const ap::AveragePool pool :
       {ap::AveragePool{}, ap::AveragePool{.size = 3, .stride = 2}, ap::AveragePool{.size = 2, .stride = 3},
        ap::AveragePool{.size = 1, .stride = 1}}) {
    INFO("size ", pool.size, " stride ", pool.stride);
    check_model<B>(ap::Model(ap::Shape{5, 7, 2}, pool), {.batch = 3, .capacity = 4});
    check_model<B>(ap::Model(ap::Shape{5, 6, 2}, ap::Conv2d{.filters = 18, .size = 1}, pool, Softsign{}), {.batch = 2});
  }
}

TEST_CASE("average pool: errors") {
  CHECK(declare_error(ap::Model(ap::Shape{1, 4, 1}, ap::AveragePool{})) ==
        "0: AveragePool has size 2 and padding 0, which does not fit examples of shape {1, 4, 1}");
}

}  // namespace
