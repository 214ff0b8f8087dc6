#include "algoperf/nn/layers/depthwise_conv2d.hpp"

#include "../support/near.hpp"
#include "algoperf/nn/layers/conv2d.hpp"
#include "runner.hpp"

using namespace nn_test;

namespace {

static_assert(ap::Layer<ap::DepthwiseConv2d>);
static_assert(ap::DepthwiseConv2d{.size = 3, .stride = 2, .padding = 1}.output({9, 6, 5}) == ap::Shape{5, 3, 5});
static_assert(ap::DepthwiseConv2d{}.parameters({8, 8, 5}) == 50);
// Along an axis of 4 coordinates, windows of size 3 cover 10 coordinates in all. Backward also adds the examples'
// gradients of W.
static_assert(cost_of(ap::DepthwiseConv2d{.padding = 1, .bias = false}, {4, 4, 2}).forward_flops == 2 * 10 * 10 * 2);
static_assert(cost_of(ap::DepthwiseConv2d{.padding = 1, .bias = false}, {4, 4, 2}).backward_flops ==
              2 * 2 * 10 * 10 * 2 + 18);

struct DepthwiseCase {
  ap::DepthwiseConv2d conv;
  ap::Shape in;
};
const DepthwiseCase depthwise_cases[] = {
    {{.size = 3, .padding = 1}, {5, 4, 2}},
    {{.size = 5, .padding = 2}, {3, 6, 1}},
    {{.size = 3, .stride = 2}, {8, 6, 3}},
    {{.size = 2, .stride = 3, .padding = 1}, {7, 5, 2}},
    {{.size = 2, .padding = 3}, {2, 3, 2}},
    {{.size = 1, .stride = 2}, {3, 4, 20}},
    {{.size = 4, .padding = 1, .bias = false}, {6, 9, 18}},
    {{.size = 3, .stride = 2, .padding = 1}, {5, 6, 33}},
    {{.size = 7, .padding = 3}, {9, 8, 3}},
    {{.size = 3, .padding = 1}, {4, 15, 70}},
    {{.size = 3, .padding = 1}, {3, 26, 50}},
    {{.size = 3, .padding = 1}, {3, 8, 20}},
    {{.size = 3, .padding = 2}, {3, 12, 9}},
    {{.size = 3}, {4, 12, 35}},
    {{.size = 3, .padding = 2, .bias = false}, {2, 4, 17}},
    {{.size = 3, .padding = 3}, {2, 3, 2}},
    {{.size = 3, .stride = 2, .padding = 1}, {3, 41, 33}},
    {{.size = 3, .stride = 2, .padding = 1}, {3, 15, 20}},
    {{.size = 3, .stride = 2, .padding = 2}, {6, 9, 70}},
    {{.size = 6, .stride = 2, .padding = 2}, {9, 17, 40}},
    {{.size = 2, .stride = 4}, {9, 11, 17}},
    {{.size = 7, .padding = 3}, {2, 3, 5}},
    {{.size = 2, .stride = 5, .padding = 1}, {3, 3, 17}},
};

// Computes the convolution by its definition, term by term.
Numbers depthwise_by_definition(const DepthwiseCase& of, std::size_t batch, const Numbers& x, const double* weight,
                                const double* bias) {
  const ap::Shape in = of.in, out = of.conv.output(in);
  const std::size_t p = of.conv.padding, channels = in[2];
  Numbers y;
  for (std::size_t n = 0; n < batch; ++n)
    for (std::size_t o = 0; o < out[0]; ++o)
      for (std::size_t q = 0; q < out[1]; ++q)
        for (std::size_t c = 0; c < channels; ++c) {
          double total = bias == nullptr ? 0 : bias[c];
          for (std::size_t i = 0; i < of.conv.size; ++i)
            for (std::size_t j = 0; j < of.conv.size; ++j) {
              const std::size_t row = o * of.conv.stride + i, col = q * of.conv.stride + j;
              if (row < p || row >= in[0] + p || col < p || col >= in[1] + p) continue;
              total += weight[(i * of.conv.size + j) * channels + c] *
                       x[((n * in[0] + row - p) * in[1] + col - p) * channels + c];
            }
          y.push_back(total);
        }
  return y;
}

TEST_CASE_TEMPLATE("depthwise conv2d: forward agrees with the definition", B, NN_BACKENDS) {
  for (const DepthwiseCase& of : depthwise_cases) {
    INFO("size ", of.conv.size, " stride ", of.conv.stride, " padding ", of.conv.padding);
    const ap::Model model(of.in, of.conv);
    const ap::Layout layout = ap::layout_of(model);
    const Start start{3, 4, normals(layout.size(), 5), normals(3 * of.in.size(), 6), {}};
    const double* const bias =
        of.conv.bias ? start.values.data() + layout.place_of(layout.find("0.bias")).offset : nullptr;
    CHECK(distance(run<B>(model, start).outputs,
                   depthwise_by_definition(of, 3, start.input,
                                           start.values.data() + layout.place_of(layout.find("0.weight")).offset,
                                           bias)) < tolerance<B>());
  }
}

TEST_CASE_TEMPLATE("depthwise conv2d: gradients", B, NN_BACKENDS) {
  for (const DepthwiseCase& of : depthwise_cases) {
    INFO("size ", of.conv.size, " stride ", of.conv.stride, " padding ", of.conv.padding);
    check_model<B>(ap::Model(of.in, of.conv), {.batch = 3, .capacity = 5, .samples = 20});
    check_model<B>(ap::Model(of.in, ap::Conv2d{.filters = of.in[2], .size = 1}, Softsign{}, of.conv, Softsign{}),
                   {.batch = 2, .samples = 12});
  }
}

TEST_CASE("depthwise conv2d: results do not depend on the number of threads") {
  const ap::Model model(ap::Shape{14, 14, 24}, ap::DepthwiseConv2d{.size = 5, .padding = 2});
  const Start start{40, 40, {}, {}, {}};
  const Outcome one = run(model, start, ap::Host<float>{});
  const Outcome two = run(model, start, ap::Host<float>{.threads = 2});
  CHECK(one.outputs == two.outputs);
  CHECK(one.d_input == two.d_input);
  CHECK(one.gradients == two.gradients);
}

TEST_CASE("depthwise conv2d: initial values, kinds and errors") {
  const ap::Model model(ap::Shape{8, 8, 400}, ap::DepthwiseConv2d{.size = 5});
  CHECK(first_variance(model, "0.weight") == near(2.0 / 25, 0.05));
  const ap::Layout layout = ap::layout_of(model);
  CHECK(layout.spec(layout.find("0.weight")).kind == ap::Kind::conv_weight);
  CHECK(layout.spec(layout.find("0.weight")).shape == ap::Shape{5, 5, 400});
  CHECK(layout.spec(layout.find("0.bias")).kind == ap::Kind::bias);
  CHECK(declare_error(ap::Model(ap::Shape{64}, ap::DepthwiseConv2d{})) ==
        "0: DepthwiseConv2d got examples of shape {64}, expected {rows, columns, channels}");
  CHECK(declare_error(ap::Model(ap::Shape{2, 2, 1}, ap::DepthwiseConv2d{})) ==
        "0: DepthwiseConv2d has size 3 and padding 0, which does not fit examples of shape {2, 2, 1}");
}

}  // namespace
