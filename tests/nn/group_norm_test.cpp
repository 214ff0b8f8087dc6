#include "algoperf/nn/layers/group_norm.hpp"

#include "algoperf/nn/layers/conv2d.hpp"
#include "algoperf/nn/layers/layer_norm.hpp"
#include "runner.hpp"

using namespace nn_test;

namespace {

static_assert(ap::Layer<ap::GroupNorm>);
static_assert(cost_of(ap::GroupNorm{.groups = 4}, {5, 5, 16}) == ap::Cost{32, 3200 + 20, 6400 + 8, 808});

// torch.nn.functional.group_norm in double, its channels moved to the end.
TEST_CASE_TEMPLATE("group norm: torch's numbers", B, NN_BACKENDS) {
  const ap::Model model(ap::Shape{2, 1, 4}, ap::GroupNorm{.groups = 2});
  ap::Layout layout;
  model.declare(layout);
  Start start{2, 2, Numbers(layout.size()), {1, 2, -1, 0.5, 3, -2, 0.25, 4, 0, 1, 5, -3, 2, 2, -1, 1}, {}};
  const std::size_t bias = layout.place_of(layout.find("0.bias")).offset;
  const double scales[] = {1, 0.5, -1, 2}, biases[] = {0, 1, 0.5, -0.25};
  for (std::size_t c = 0; c < 4; ++c) {
    start.values[c] = scales[c];
    start.values[bias + c] = biases[c];
  }
  for (int i = 1; i <= 16; ++i) start.d_outputs.push_back(i / 8.0);
  const Outcome found = run<B>(model, start);
  CHECK(distance(found.outputs, {0, 1.2672608601114685, 1.5432315493397617, -0.72113682873408569, 1.0690434404458735,
                                 0.19821741966559492, 0.87017893686249603, 3.047957801138601, -1.5075457589595309,
                                 0.84924542410404691, -1.0212767892105559, -2.616430560994198, 0.90452745537571855,
                                 1.4522637276878592, 1.0070922630701853, 0.08806150871345686}) < tolerance<B>());
  CHECK(distance(found.d_input, {-0.10022282254180062, -0.10976782598862893, 0.092991008726723515, 0.42265839973924124,
                                 0.14794803067601112, 0.062042617854418503, -0.51847210519124465, 0.0028226967252799884,
                                 0.24668681423663186, -0.49337911037810489, -0.26562034672844997, 0.29580427892151223,
                                 0.57560987575859568, -0.32891757961712287, -1.1228469573137372, 1.0926630251206748}) <
        tolerance<B>());
  CHECK(distance({found.gradients.begin(), found.gradients.begin() + 4},
                 {0.44202028643474128, 0.13699316672175121, 0.42583919115082236, 0.094433281353587528}) <
        tolerance<B>());
  const auto d_bias = found.gradients.begin() + static_cast<std::ptrdiff_t>(bias);
  CHECK(distance({d_bias, d_bias + 4}, {3.5, 4, 4.5, 5}) < tolerance<B>());
}

TEST_CASE_TEMPLATE("group norm: one group of a row is layer norm", B, NN_BACKENDS) {
  const Start start{3, 3, normals(2 * 48, 1), normals(3 * 37, 2), normals(3 * 37, 3)};
  const Outcome layer = run<B>(ap::Model(ap::Shape{37}, ap::LayerNorm{}), start);
  const Outcome group = run<B>(ap::Model(ap::Shape{37}, ap::GroupNorm{}), start);
  CHECK(distance(group.outputs, layer.outputs) < tolerance<B>());
  CHECK(distance(group.gradients, layer.gradients) < tolerance<B>());
  CHECK(distance(group.d_input, layer.d_input) < tolerance<B>());
}

TEST_CASE_TEMPLATE("group norm: gradients", B, NN_BACKENDS) {
  for (const std::size_t groups : {1u, 2u, 6u}) {
    INFO("groups ", groups);
    check_model<B>(ap::Model(ap::Shape{3, 4, 6}, ap::GroupNorm{.groups = groups}), {.batch = 3, .capacity = 8});
    check_model<B>(
        ap::Model(ap::Shape{3, 4, 2}, ap::Conv2d{.filters = 6, .size = 1}, ap::GroupNorm{.groups = groups}, Softsign{}),
        {.batch = 2});
  }
}

TEST_CASE("group norm: first values and errors") {
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
