#include "algoperf/nn/layers/instance_norm.hpp"

#include "algoperf/nn/layers/conv2d.hpp"
#include "algoperf/nn/layers/group_norm.hpp"
#include "runner.hpp"

using namespace nn_test;

namespace {

static_assert(ap::Layer<ap::InstanceNorm>);
static_assert(cost_of(ap::InstanceNorm{}, {5, 5, 16}) == ap::Cost{0, 2400 + 176, 4400 + 128, 400 + 32});

// Numbers of channels around the blocks' width of 16, and its half; positions that four does not divide.
TEST_CASE_TEMPLATE("instance norm: equals group norm with a group per channel, scale 1 and bias 0", B, NN_BACKENDS) {
  for (const std::size_t channels : {1u, 3u, 8u, 15u, 16u, 17u, 24u, 35u})
    for (const std::size_t rows : {1u, 2u, 7u}) {
      INFO("channels ", channels, " rows ", rows);
      const ap::Shape in{rows, 3, channels};
      const Start start{3, 4, {}, normals(3 * in.size(), 2), normals(3 * in.size(), 3)};
      const Outcome group = run<B>(ap::Model(in, ap::GroupNorm{.groups = channels}), start);
      const Outcome found = run<B>(ap::Model(in, ap::InstanceNorm{}), start);
      CHECK(distance(found.outputs, group.outputs) < tolerance<B>());
      CHECK(distance(found.d_input, group.d_input) < 10 * tolerance<B>());
    }
}

TEST_CASE_TEMPLATE("instance norm: gradients", B, NN_BACKENDS) {
  check_model<B>(ap::Model(ap::Shape{3, 4, 6}, ap::InstanceNorm{}), {.batch = 3, .capacity = 8});
  check_model<B>(ap::Model(ap::Shape{5, 4, 2}, ap::Conv2d{.filters = 17}, ap::InstanceNorm{}, Softsign{}),
                 {.batch = 2});
}

TEST_CASE("instance norm: one position, and errors") {
  const Outcome found = run<ap::Host<double>>(ap::Model(ap::Shape{1, 1, 3}, ap::InstanceNorm{}));
  CHECK(found.outputs == Numbers(9, 0));
  CHECK(found.d_input == Numbers(9, 0));
  CHECK(declare_error(ap::Model(ap::Shape{4}, ap::InstanceNorm{.eps = 0})) ==
        "0: InstanceNorm has eps 0, expected more than 0");
}

}  // namespace
