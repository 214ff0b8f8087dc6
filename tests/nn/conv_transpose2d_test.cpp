#include "algoperf/nn/layers/conv_transpose2d.hpp"

#include "../golden/conv_transpose.hpp"
#include "algoperf/nn/layers/dense.hpp"
#include "runner.hpp"

using namespace nn_test;

namespace {

static_assert(ap::Layer<ap::ConvTranspose2d>);
static_assert(ap::ConvTranspose2d{.filters = 5}.output({4, 3, 2}) == ap::Shape{8, 6, 5});
static_assert(ap::ConvTranspose2d{.size = 3, .padding = 1}.output({4, 3, 2}) == ap::Shape{7, 5, 1});
static_assert(ap::ConvTranspose2d{.size = 1, .stride = 1}.memory({4, 3, 2}).scratch == 0);
// 12 pixels, of which each adds to 4 x 5 outputs.
static_assert(cost_of(ap::ConvTranspose2d{.filters = 5}, {4, 3, 2}) ==
              ap::Cost{40 + 5, 2 * 12 * 20 * 2 + 12 * 20 + 240, 2 * 2 * 12 * 20 * 2 + 240, 240});

// A backend without convolutions of its own, on which Conv2d unrolls windows.
struct UnrollingHost : ap::Host<double> {
  void convolution(const ap::Convolution&) const = delete;
};

Numbers formula(std::size_t n, double (*function)(double), double start, double step) {
  Numbers values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = function(start + step * static_cast<double>(i));
  return values;
}

TEST_CASE_TEMPLATE("conv transpose: agrees with torch", B, NN_BACKENDS, UnrollingHost) {
  for (const golden::ConvTransposeCase& of : golden::conv_transpose) {
    INFO("size ", of.size, " stride ", of.stride, " padding ", of.padding);
    const ap::Model model(
        ap::Shape{of.rows, of.columns, of.channels},
        ap::ConvTranspose2d{
            .filters = of.filters, .size = of.size, .stride = of.stride, .padding = of.padding, .bias = of.bias});
    const ap::Layout layout = ap::layout_of(model);
    const ap::TensorPlace weight = layout.place_of(layout.find("0.weight"));
    Start start{2, 2, Numbers(layout.size()), formula(2 * model.input().size(), std::sin, 0.1, 0.37),
                formula(2 * model.output().size(), std::cos, 0.3, 0.29)};
    const auto set = [&](const ap::TensorPlace& at, double first) {
      for (std::size_t i = 0; i < at.size; ++i)
        start.values[at.offset + i] = 0.4 * std::sin(first + 1.3 * static_cast<double>(i));
    };
    set(weight, 1);
    if (of.bias) set(layout.place_of(layout.find("0.bias")), 1.7);
    const Outcome found = run<B>(model, start);
    const auto gradient = [&](const ap::TensorPlace& at) {
      const auto begin = found.gradients.begin() + static_cast<std::ptrdiff_t>(at.offset);
      return Numbers(begin, begin + static_cast<std::ptrdiff_t>(at.size));
    };
    CHECK(distance(found.outputs, of.y) < tolerance<B>());
    CHECK(distance(found.d_input, of.dx) < tolerance<B>());
    CHECK(distance(gradient(weight), of.d_weight) < tolerance<B>());
    if (of.bias) CHECK(distance(gradient(layout.place_of(layout.find("0.bias"))), of.d_bias) < tolerance<B>());
  }
}

TEST_CASE_TEMPLATE("conv transpose: gradients", B, NN_BACKENDS, UnrollingHost) {
  for (const std::size_t scratch : {std::size_t{1}, std::size_t{100}, std::size_t{1} << 18})
    for (const ap::ConvTranspose2d& up :
         {ap::ConvTranspose2d{.filters = 3}, ap::ConvTranspose2d{.filters = 2, .size = 3, .stride = 1, .padding = 1},
          ap::ConvTranspose2d{.filters = 2, .size = 2, .stride = 3, .bias = false},
          ap::ConvTranspose2d{.filters = 3, .size = 1, .stride = 1}}) {
      INFO("scratch ", scratch, " size ", up.size, " stride ", up.stride);
      B backend;
      backend.scratch = scratch;
      check_model(ap::Model(ap::Shape{3, 4, 2}, up), {.batch = 3, .capacity = 5, .samples = 20}, 0, backend);
      check_model(ap::Model(ap::Shape{3, 4, 2}, ap::Conv2d{.filters = 3, .size = 1}, Softsign{}, up, Softsign{}),
                  {.samples = 12}, 0, backend);
    }
}

TEST_CASE("conv transpose: initial values and errors") {
  const ap::Model model(ap::Shape{4, 4, 16},
                        ap::ConvTranspose2d{.filters = 200, .size = 2, .init = ap::Init::lecun_normal});
  CHECK(first_variance(model, "0.weight") * 64 > 0.97);
  CHECK(first_variance(model, "0.weight") * 64 < 1.03);
  const ap::Layout layout = ap::layout_of(model);
  CHECK(layout.spec(layout.find("0.weight")).kind == ap::Kind::conv_weight);
  CHECK(layout.spec(layout.find("0.weight")).shape == ap::Shape{16, 2, 2, 200});
  CHECK(declare_error(ap::Model(ap::Shape{64}, ap::ConvTranspose2d{})) ==
        "0: ConvTranspose2d got examples of shape {64}, expected {rows, columns, channels}");
  CHECK(declare_error(ap::Model(ap::Shape{4, 4, 1}, ap::ConvTranspose2d{.stride = 0})) ==
        "0: ConvTranspose2d has size 2 and stride 0, expected both at least 1");
  CHECK(declare_error(ap::Model(ap::Shape{4, 4, 1}, ap::ConvTranspose2d{.filters = 0})) ==
        "0: ConvTranspose2d has filters 0, expected at least 1");
  CHECK(declare_error(ap::Model(ap::Shape{1, 4, 1}, ap::ConvTranspose2d{.padding = 1})) ==
        "0: ConvTranspose2d has size 2, stride 2 and padding 1, which leave no pixels of examples of shape {1, 4, 1}, "
        "or too many");
  CHECK(declare_error(ap::Model(ap::Shape{2, 4, 1}, ap::ConvTranspose2d{.stride = std::size_t{1} << 60})) ==
        "0: ConvTranspose2d has size 2, stride 1152921504606846976 and padding 0, which leave no pixels of examples of "
        "shape {2, 4, 1}, or too many");
}

}  // namespace
