#include "algoperf/nn/layers/rms_norm.hpp"

#include "algoperf/nn/layers/dense.hpp"
#include "runner.hpp"

using namespace nn_test;

namespace of_rms_norm {
namespace {

static_assert(ap::Layer<ap::RmsNorm>);
static_assert(cost_of(ap::RmsNorm{}, {64}) == ap::Cost{64, 256 + 4, 10 * 64 + 1, 129});
static_assert(cost_of(ap::RmsNorm{}, {4, 16}) == ap::Cost{16, 256 + 16, 10 * 64 + 4, 132});

TEST_CASE_TEMPLATE("rms norm: forward agrees with the formula", B, NN_BACKENDS) {
  const ap::RmsNorm norm{.eps = 0.01};
  for (const ap::Shape in : {ap::Shape{1}, ap::Shape{37}, ap::Shape{2, 3, 18}}) {
    const std::size_t width = in[in.rank - 1], rows = 3 * in.size() / width;
    const ap::Model model(in, norm);
    Start start{3, 5, normals(ap::layout_of(model).size(), 8), normals(3 * in.size(), 9), {}};
    Numbers expected;
    for (std::size_t r = 0; r < rows; ++r) {
      const double* const x = start.input.data() + r * width;
      double square = 0;
      for (std::size_t c = 0; c < width; ++c) square += x[c] * x[c] / static_cast<double>(width);
      for (std::size_t c = 0; c < width; ++c) expected.push_back(x[c] / std::sqrt(square + norm.eps) * start.values[c]);
    }
    CHECK(distance(run<B>(model, start).outputs, expected) < tolerance<B>());
  }
}

TEST_CASE_TEMPLATE("rms norm: gradients", B, NN_BACKENDS) {
  check_model<B>(ap::Model(ap::Shape{3, 20}, ap::RmsNorm{}), {.batch = 3, .capacity = 8});
  check_model<B>(ap::Model(ap::Shape{5}, ap::Dense{.units = 19}, ap::RmsNorm{}, ap::Dense{.units = 4}));
}

TEST_CASE("rms norm: initial values, kind and mistakes") {
  const ap::Model model(ap::Shape{4, 6}, ap::RmsNorm{});
  CHECK(first_variance(model, "0.scale") == 1);
  const ap::Layout layout = ap::layout_of(model);
  CHECK(layout.spec(layout.find("0.scale")).kind == ap::Kind::layer_norm_scale);
  CHECK(layout.spec(layout.find("0.scale")).shape == ap::Shape{6});
  CHECK(declare_error(ap::Model(ap::Shape{4}, ap::RmsNorm{.eps = 0})) == "0: RmsNorm has eps 0, expected more than 0");
}

}  // namespace
}  // namespace of_rms_norm
