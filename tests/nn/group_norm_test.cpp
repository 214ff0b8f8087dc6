#include "algoperf/nn/layers/group_norm.hpp"

#include "algoperf/nn/layers/conv2d.hpp"
#include "algoperf/nn/layers/layer_norm.hpp"
#include "runner.hpp"

using namespace nn_test;

namespace {

static_assert(ap::Layer<ap::GroupNorm>);
static_assert(cost_of(ap::GroupNorm{.groups = 4}, {5, 5, 16}) == ap::Cost{32, 3200 + 76, 6400 + 64, 808});

TEST_CASE_TEMPLATE("group norm: equals layer norm for one group on a single row", B, NN_BACKENDS) {
  const Start start{3, 3, normals(2 * 48, 1), normals(3 * 37, 2), normals(3 * 37, 3)};
  const Outcome layer = run<B>(ap::Model(ap::Shape{37}, ap::LayerNorm{}), start);
  const Outcome group = run<B>(ap::Model(ap::Shape{37}, ap::GroupNorm{}), start);
  CHECK(distance(group.outputs, layer.outputs) < tolerance<B>());
  CHECK(distance(group.gradients, layer.gradients) < tolerance<B>());
  CHECK(distance(group.d_input, layer.d_input) < tolerance<B>());
}

TEST_CASE_TEMPLATE("group norm: gradients", B, NN_BACKENDS) {
  for (const std::size_t groups : {1u, 2u, 3u}) {  // of 18, 9 and 6 channels
    INFO("groups ", groups);
    check_model<B>(ap::Model(ap::Shape{2, 3, 18}, ap::GroupNorm{.groups = groups}), {.batch = 2});
  }
  for (const std::size_t groups : {1u, 2u, 6u}) {
    INFO("groups ", groups);
    check_model<B>(ap::Model(ap::Shape{3, 4, 6}, ap::GroupNorm{.groups = groups}), {.batch = 3, .capacity = 8});
    check_model<B>(
        ap::Model(ap::Shape{3, 4, 2}, ap::Conv2d{.filters = 6, .size = 1}, ap::GroupNorm{.groups = groups}, Softsign{}),
        {.batch = 2});
  }
}

TEST_CASE("group norm: initial values and errors") {
  const ap::Model model(ap::Shape{4, 6}, ap::GroupNorm{.groups = 3});
  CHECK(first_variance(model, "0.scale") == 1);
  CHECK(first_variance(model, "0.bias") == 0);
  CHECK(declare_error(ap::Model(ap::Shape{4}, ap::GroupNorm{.eps = 0})) ==
        "0: GroupNorm has eps 0, expected more than 0");
  CHECK(declare_error(ap::Model(ap::Shape{4}, ap::GroupNorm{.groups = 3})) ==
        "0: GroupNorm has groups 3, expected a divisor of the 4 channels");
  CHECK(declare_error(ap::Model(ap::Shape{4}, ap::GroupNorm{.groups = 0})) ==
        "0: GroupNorm has groups 0, expected a divisor of the 4 channels");
}

}  // namespace
