#include "algoperf/nn/layers/layer_norm.hpp"

#include <algorithm>

#include "algoperf/nn/layers/dense.hpp"
#include "algoperf/nn/layers/relu.hpp"
#include "runner.hpp"

using namespace nn_test;

namespace {

static_assert(ap::Layer<ap::LayerNorm>);
static_assert(cost_of(ap::LayerNorm{}, {64}) == ap::Cost{128, 512 + 5, 1024 + 2, 130});
static_assert(cost_of(ap::LayerNorm{.affine = false}, {64}) == ap::Cost{0, 6 * 64 + 5, 11 * 64 + 2, 66});
static_assert(cost_of(ap::LayerNorm{}, {4, 16}) == ap::Cost{32, 512 + 20, 1024 + 8, 136});

TEST_CASE_TEMPLATE("layer norm: forward agrees with the formula", B, NN_BACKENDS) {
  const ap::LayerNorm norm{.eps = 0.01};
  for (const ap::Shape in : {ap::Shape{1}, ap::Shape{7}, ap::Shape{37}, ap::Shape{3, 5}, ap::Shape{2, 3, 18}}) {
    const std::size_t width = in[in.rank - 1], rows = 3 * in.size() / width;
    const ap::Model model(in, norm);
    const ap::Layout layout = ap::layout_of(model);
    Start start{3, 5, normals(layout.size(), 8), normals(3 * in.size(), 9), {}};
    for (double& x : start.input) x = 3 * x + 10;
    const std::size_t bias = layout.place_of(layout.find("0.bias")).offset;
    Numbers expected;
    for (std::size_t r = 0; r < rows; ++r) {
      const double* const x = start.input.data() + r * width;
      double mean = 0, variance = 0;
      for (std::size_t c = 0; c < width; ++c) mean += x[c] / static_cast<double>(width);
      for (std::size_t c = 0; c < width; ++c) variance += (x[c] - mean) * (x[c] - mean) / static_cast<double>(width);
      for (std::size_t c = 0; c < width; ++c)
        expected.push_back((x[c] - mean) / std::sqrt(variance + norm.eps) * start.values[c] + start.values[bias + c]);
    }
    CHECK(distance(run<B>(model, start).outputs, expected) < tolerance<B>());
  }
}

TEST_CASE_TEMPLATE("layer norm: gradients", B, NN_BACKENDS) {
  check_model<B>(ap::Model(ap::Shape{6}, ap::LayerNorm{}), {.batch = 3, .capacity = 8});
  check_model<B>(ap::Model(ap::Shape{3, 20}, ap::LayerNorm{}, Softsign{}, ap::Dense{.units = 4}));
  check_model<B>(
      ap::Model(ap::Shape{5}, ap::Dense{.units = 19}, Softsign{}, ap::LayerNorm{}, ap::Relu{}, ap::Dense{.units = 4}));
}

TEST_CASE_TEMPLATE("layer norm: without a scale and a bias, as with ones and zeros", B, NN_BACKENDS) {
  const ap::Model plain(ap::Shape{3, 7}, ap::LayerNorm{.affine = false}), whole(ap::Shape{3, 7}, ap::LayerNorm{});
  CHECK(ap::layout_of(plain).size() == 0);
  Numbers ones(ap::layout_of(whole).size());
  std::fill_n(ones.begin(), 7, 1);  // the scale, the first tensor
  const Numbers input = normals(42, 9), d_outputs = normals(42, 10);
  const Outcome found = run<B>(plain, {2, 3, {}, input, d_outputs}),
                same = run<B>(whole, {2, 3, ones, input, d_outputs});
  CHECK(distance(found.outputs, same.outputs) < tolerance<B>());
  CHECK(distance(found.d_input, same.d_input) < tolerance<B>());
  check_model<B>(
      ap::Model(ap::Shape{5}, ap::Dense{.units = 19}, ap::LayerNorm{.affine = false}, ap::Dense{.units = 4}));
}

TEST_CASE("layer norm: initial values and kinds") {
  const ap::Model model(ap::Shape{4, 6}, ap::LayerNorm{});
  CHECK(first_variance(model, "0.scale") == 1);
  CHECK(first_variance(model, "0.bias") == 0);
  const ap::Layout layout = ap::layout_of(model);
  CHECK(layout.spec(layout.find("0.scale")).kind == ap::Kind::layer_norm_scale);
  CHECK(layout.spec(layout.find("0.bias")).kind == ap::Kind::layer_norm_bias);
  CHECK(layout.spec(layout.find("0.bias")).shape == ap::Shape{6});
  CHECK(declare_error(ap::Model(ap::Shape{4}, ap::LayerNorm{.eps = 0})) ==
        "0: LayerNorm has eps 0, expected more than 0");
}

}  // namespace
