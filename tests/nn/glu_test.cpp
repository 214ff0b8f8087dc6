#include "algoperf/nn/layers/glu.hpp"

#include "algoperf/nn/layers/dense.hpp"
#include "runner.hpp"

using namespace nn_test;

namespace of_glu {
namespace {

static_assert(ap::Layer<ap::Glu>);
static_assert(cost_of(ap::Glu{}, {3, 8}) == ap::Cost{0, 4 * 12, 11 * 12, 12});

TEST_CASE_TEMPLATE("glu: forward agrees with the formula", B, NN_BACKENDS) {
  for (const ap::Shape in : {ap::Shape{2}, ap::Shape{2, 3, 38}}) {
    const std::size_t width = in[in.rank - 1] / 2;
    const Start start{2, 3, {}, normals(2 * in.size(), 9), {}};
    Numbers expected;
    for (std::size_t r = 0; r < 2 * in.size() / (2 * width); ++r)
      for (std::size_t c = 0; c < width; ++c) {
        const double *const a = start.input.data() + 2 * r * width + c, *const b = a + width;
        expected.push_back(*a / (1 + std::exp(-*b)));
      }
    CHECK(distance(run<B>(ap::Model(in, ap::Glu{}), start).outputs, expected) < tolerance<B>());
  }
}

TEST_CASE_TEMPLATE("glu: gradients", B, NN_BACKENDS) {
  check_model<B>(ap::Model(ap::Shape{3, 38}, ap::Glu{}), {.batch = 3, .capacity = 4});
  check_model<B>(ap::Model(ap::Shape{6}, ap::Dense{.units = 20}, ap::Glu{}, ap::Dense{.units = 4}));
}

TEST_CASE("glu: an odd last extent is refused") {
  CHECK(declare_error(ap::Model(ap::Shape{4, 3}, ap::Glu{})) ==
        "0: Glu has an input of shape {4, 3}, expected an even last extent");
}

}  // namespace
}  // namespace of_glu
