#include "algoperf/nn/layers/batch_norm.hpp"

#include "algoperf/nn/layers/conv2d.hpp"
#include "algoperf/nn/layers/dense.hpp"
#include "algoperf/nn/layers/relu.hpp"
#include "algoperf/nn/residual.hpp"
#include "runner.hpp"

using namespace nn_test;

namespace {

static_assert(ap::Layer<ap::BatchNorm>);
static_assert(cost_of(ap::BatchNorm{}, {5, 5, 16}) == ap::Cost{32, 3200 + 96 + 3, 5600 + 160 + 1, 480});
constexpr ap::Model plain_model(ap::Shape{4}, ap::Dense{.units = 4}, ap::Residual(ap::Dense{.units = 4}));
constexpr ap::Model normed_model(ap::Shape{4}, ap::Dense{.units = 4},
                                 ap::Residual(ap::BatchNorm{}, ap::Dense{.units = 4}));
static_assert(!decltype(plain_model)::has_buffers && decltype(normed_model)::has_buffers);

Numbers of(const ap::Layout& layout, const char* name, const Numbers& arena) {
  const ap::TensorPlace at = layout.place_of(layout.find(name));
  const auto begin = arena.begin() + static_cast<std::ptrdiff_t>(at.offset);
  return {begin, begin + static_cast<std::ptrdiff_t>(at.size)};
}

TEST_CASE_TEMPLATE("batch norm: each ghost batch is normalised separately", B, NN_BACKENDS) {
  const ap::Shape in{3, 5};
  const ap::Model whole(in, ap::BatchNorm{}), ghosts(in, ap::BatchNorm{.ghost = 2});
  const ap::Layout layout = ap::layout_of(whole);
  const Numbers values = normals(layout.size(), 3), input = normals(5 * 15, 4), d = normals(5 * 15, 5);
  const Outcome found = run<B>(ghosts, {5, 6, values, input, d});
  Numbers scale(5), bias(5), mean(5), variance(5);
  for (const auto& [begin, n] : {std::pair<std::ptrdiff_t, std::ptrdiff_t>{0, 2}, {2, 3}}) {
    const auto cut = [&, first = begin, count = n](const Numbers& all) {
      return Numbers(all.begin() + first * 15, all.begin() + (first + count) * 15);
    };
    const std::size_t size = static_cast<std::size_t>(n);
    const Outcome part = run<B>(whole, {size, size, values, cut(input), cut(d)});
    CHECK(distance(cut(found.outputs), part.outputs) < tolerance<B>());
    CHECK(distance(cut(found.d_input), part.d_input) < tolerance<B>());
    for (std::size_t c = 0; c < 5; ++c) {
      scale[c] += of(layout, "0.scale", part.gradients)[c];
      bias[c] += of(layout, "0.bias", part.gradients)[c];
      mean[c] += of(layout, "0.mean", part.gradients)[c] / 2;
      variance[c] += of(layout, "0.variance", part.gradients)[c] / 2;
    }
  }
  CHECK(distance(of(layout, "0.scale", found.gradients), scale) < tolerance<B>());
  CHECK(distance(of(layout, "0.bias", found.gradients), bias) < tolerance<B>());
  CHECK(distance(of(layout, "0.mean", found.gradients), mean) < 10 * tolerance<B>());
  CHECK(distance(of(layout, "0.variance", found.gradients), variance) < 10 * tolerance<B>());
}

TEST_CASE_TEMPLATE("batch norm: gradients", B, NN_BACKENDS) {
  check_model<B>(ap::Model(ap::Shape{6}, ap::BatchNorm{}), {.batch = 5, .capacity = 8});
  check_model<B>(ap::Model(ap::Shape{3, 4, 2}, ap::Conv2d{.filters = 6, .size = 3}, ap::BatchNorm{.ghost = 3},
                           Softsign{}, ap::Dense{.units = 4}),
                 {.batch = 7, .samples = 12});
  check_model<B>(
      ap::Model(ap::Shape{5}, ap::Dense{.units = 19}, Softsign{}, ap::BatchNorm{}, Softsign{}, ap::Dense{.units = 4}),
      {.batch = 4});
}

TEST_CASE("batch norm: initial values, kinds and errors") {
  const ap::Model model(ap::Shape{4, 6}, ap::BatchNorm{});
  CHECK(first_variance(model, "0.scale") == 1);
  CHECK(first_variance(model, "0.bias") == 0);
  CHECK(first_variance(model, "0.mean") == 0);
  CHECK(first_variance(model, "0.variance") == 1);
  const ap::Layout layout = ap::layout_of(model);
  CHECK(layout.spec(layout.find("0.scale")).kind == ap::Kind::batch_norm_scale);
  CHECK(layout.spec(layout.find("0.mean")).buffer);
  CHECK(!layout.spec(layout.find("0.bias")).buffer);
  CHECK(layout.parameters() == 12);  // scale and bias of 6 channels; running averages are not trained
  CHECK(model.parameters() == 12);
  CHECK(declare_error(ap::Model(ap::Shape{4}, ap::BatchNorm{.eps = 0})) ==
        "0: BatchNorm has eps 0, expected more than 0");
  CHECK(declare_error(ap::Model(ap::Shape{4}, ap::BatchNorm{.momentum = 1.5})) ==
        "0: BatchNorm has momentum 1.5, expected [0, 1]");
  CHECK(declare_error(ap::Model(ap::Shape{4}, ap::BatchNorm{.ghost = 1})) ==
        "0: BatchNorm has ghost 1 and examples with one value per channel, expected at least 2 values to normalise");
  CHECK(declare_error(ap::Model(ap::Shape{2, 4}, ap::BatchNorm{.ghost = 1})).empty());
  CHECK_THROWS_WITH_AS(run(ap::Model(ap::Shape{4}, ap::BatchNorm{}), {1, 1, {}, {}, {}}, ap::Host<float>{}),
                       "BatchNorm: a batch has one value per channel, expected at least 2 to normalise "
                       "(LastBatch::drop leaves out a last batch of one example)",
                       ap::Error);
}

}  // namespace
