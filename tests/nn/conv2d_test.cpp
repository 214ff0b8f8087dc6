#include "algoperf/nn/layers/conv2d.hpp"

#include <cmath>
#include <thread>

#include "../support/near.hpp"
#include "algoperf/nn/layers/dense.hpp"
#include "algoperf/nn/layers/relu.hpp"
#include "runner.hpp"

using namespace nn_test;

namespace {

static_assert(ap::Layer<ap::Conv2d>);
static_assert(ap::ConvolvingBackend<ap::Host<float>> && ap::ConvolvingBackend<ap::Host<double>>);

constexpr ap::Model first_conv(ap::Shape{28, 28, 1}, ap::Conv2d{.filters = 32, .size = 5, .padding = 2});
static_assert(first_conv.output() == ap::Shape{28, 28, 32});
static_assert(first_conv.cost() ==
              ap::Cost{832, 1254400 + 25088, 1254400 + 25088, 25088});  // 25088 outputs, 25 terms each
constexpr ap::Conv2d second_conv{.filters = 64, .size = 5, .padding = 2};
// Along an axis of 14 coordinates, windows of size 5 cover 64 coordinates in all. The last product of the backward
// FLOPs counts the corresponding sums in the gradient of the input.
static_assert(cost_of(second_conv, {14, 14, 32}) ==
              ap::Cost{51264, 20070400 + 12544, 2 * 20070400 + 12544 + 64 * 64 * 32, 12544});
static_assert(ap::Conv2d{.size = 3, .stride = 2}.output({8, 7, 1}) == ap::Shape{3, 3, 1});
static_assert(ap::Conv2d{.size = 1}.memory({8, 8, 4}).scratch == 0);
static_assert(second_conv.memory({14, 14, 32}) == ap::LayerMemory{0, 14 * 800, 14 * 14 * 800});
static_assert(second_conv.memory({14, 14, 32}).scratch_within(1 << 18, 128) == 1 << 18);
static_assert(second_conv.memory({14, 14, 32}).scratch_within(1 << 18, 1) == 14 * 14 * 800);
static_assert(second_conv.memory({14, 14, 32}).scratch_within(1, 128) == 14 * 800);

// Computes the convolution by its definition, term by term.
Numbers naive(const ap::Conv2d& conv, ap::Shape in, std::size_t batch, const Numbers& x, const double* weight,
              const double* bias) {
  const ap::Shape out = conv.output(in);
  Numbers y;
  for (std::size_t n = 0; n < batch; ++n)
    for (std::size_t o = 0; o < out[0]; ++o)
      for (std::size_t q = 0; q < out[1]; ++q)
        for (std::size_t f = 0; f < conv.filters; ++f) {
          double total = bias[f];
          for (std::size_t i = 0; i < conv.size; ++i)
            for (std::size_t j = 0; j < conv.size; ++j)
              for (std::size_t c = 0; c < in[2]; ++c) {
                const std::size_t row = o * conv.stride + i, col = q * conv.stride + j, p = conv.padding;
                if (row < p || row >= in[0] + p || col < p || col >= in[1] + p) continue;
                total += weight[((f * conv.size + i) * conv.size + j) * in[2] + c] *
                         x[((n * in[0] + row - p) * in[1] + col - p) * in[2] + c];
              }
          y.push_back(total);
        }
  return y;
}

struct Case {
  ap::Conv2d conv;
  ap::Shape in;
};

// Cases with strides, padding larger than half the kernel and than the kernel, edges that no window covers, and
// one-pixel outputs. for_each_case varies the scratch from one row of windows to several images.
const Case cases[] = {
    {{.filters = 3, .size = 3, .padding = 1}, {5, 4, 2}},
    {{.filters = 2, .size = 5, .padding = 2}, {3, 6, 1}},
    {{.filters = 4, .size = 3, .stride = 2}, {8, 6, 3}},
    {{.filters = 2, .size = 2, .stride = 3, .padding = 1}, {7, 5, 2}},
    {{.filters = 2, .size = 2, .padding = 3}, {2, 3, 2}},
    {{.filters = 3, .size = 4}, {4, 4, 2}},
    {{.filters = 5, .size = 1}, {3, 4, 6}},
    {{.filters = 5, .size = 1, .stride = 2}, {3, 4, 2}},
    {{.filters = 2, .size = 3, .padding = 1}, {4, 3, 19}},
    {{.filters = 37, .size = 3, .padding = 1}, {2, 14, 3}},
    {{.filters = 16, .size = 3, .stride = 2, .padding = 1}, {5, 6, 33}},
};

// A backend without convolutions of its own, on which Conv2d unrolls windows.
struct Unrolling : ap::Host<double> {
  void convolution(const ap::Convolution&) const = delete;
};
static_assert(!ap::ConvolvingBackend<Unrolling>);

template <class B, class F>
void for_each_case(const F& f) {
  for (const Case& of : cases)
    for (const std::size_t scratch : {std::size_t{1}, std::size_t{100}, std::size_t{400}, std::size_t{1} << 18}) {
      INFO("size ", of.conv.size, " stride ", of.conv.stride, " padding ", of.conv.padding, " scratch ", scratch);
      B backend;
      backend.scratch = scratch;
      f(of, backend);
    }
}

TEST_CASE_TEMPLATE("conv2d: golden", B, NN_BACKENDS) {
  const ap::Model model(ap::Shape{3, 3, 1}, ap::Conv2d{.filters = 1, .size = 2});
  Start start{1, 1, Numbers(32), {1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 0, 0, 2}};
  for (const std::size_t i : {0u, 1u, 2u, 3u}) start.values[i] = static_cast<double>(i + 1);
  start.values[16] = 0.5;
  const Outcome found = run<B>(model, start);
  CHECK(found.outputs == Numbers{37.5, 47.5, 67.5, 77.5});
  CHECK(Numbers(found.gradients.begin(), found.gradients.begin() + 4) == Numbers{11, 14, 20, 23});
  CHECK(found.gradients[16] == 3);
  CHECK(found.d_input == Numbers{1, 2, 0, 3, 6, 4, 0, 6, 8});
}

TEST_CASE_TEMPLATE("conv2d: forward agrees with the definition", B, NN_BACKENDS, Unrolling) {
  for_each_case<B>([](const Case& of, const B& backend) {
    const ap::Model model(of.in, of.conv);
    const ap::Layout layout = ap::layout_of(model);
    const Start start{3, 4, normals(layout.size(), 5), normals(3 * of.in.size(), 6), {}};
    const double* const bias = start.values.data() + layout.place_of(layout.find("0.bias")).offset;
    CHECK(distance(run(model, start, backend).outputs,
                   naive(of.conv, of.in, 3, start.input, start.values.data(), bias)) < tolerance<B>());
  });
}

TEST_CASE_TEMPLATE("conv2d: gradients", B, NN_BACKENDS, Unrolling) {
  for_each_case<B>([](const Case& of, const B& backend) {
    check_model(ap::Model(of.in, of.conv), {.batch = 3, .capacity = 5, .samples = 20}, 0, backend);
    check_model(ap::Model(of.in, ap::Conv2d{.filters = of.in[2], .size = 1}, Softsign{}, of.conv, Softsign{}),
                {.samples = 12}, 0, backend);
  });
}

TEST_CASE_TEMPLATE("conv2d: without a bias", B, NN_BACKENDS) {
  const ap::Conv2d bare{.filters = 3, .size = 3, .padding = 1, .bias = false};
  const ap::Shape in{5, 4, 2};
  CHECK(bare.parameters(in) == 54);
  check_model<B>(ap::Model(in, bare, Softsign{}, ap::Dense{.units = 3}));
  check_model<B>(ap::Model(in, ap::Conv2d{.filters = 3, .size = 1, .bias = false}, Softsign{}, ap::Dense{.units = 3}));

  // The same outputs as with a bias of 0, its initial value.
  ap::Conv2d biased = bare;
  biased.bias = true;
  CHECK(run<B>(ap::Model(in, bare)).outputs == run<B>(ap::Model(in, biased)).outputs);
}

// Memory that a thread keeps has just the size for its first convolution, so that AddressSanitizer sees writes behind
// it.
TEST_CASE("conv2d: the weight gradient in the memory of a new thread") {
  const ap::Convolution c{
      .images = 2, .rows = 6, .cols = 6, .channels = 3, .filters = 64, .size = 3, .stride = 1, .padding = 0};
  const Numbers x = normals(c.images * c.inputs(), 1), dy = normals(c.images * c.outputs(), 2);
  Numbers here(c.weights()), there(c.weights());
  const auto compute = [&](Numbers& to) {
    ap::Host<double>{}.convolution(c).back_to_weight(x.data(), dy.data(), to.data());
  };
  compute(here);
  std::thread([&] { compute(there); }).join();
  CHECK(here == there);
}

TEST_CASE("conv2d: the same bits for any number of threads") {
  const ap::Convolution c{
      .images = 70, .rows = 5, .cols = 6, .channels = 3, .filters = 18, .size = 3, .stride = 2, .padding = 1};
  const Numbers x = normals(c.images * c.inputs(), 1), w = normals(c.weights(), 2),
                dy = normals(c.images * c.outputs(), 3);
  const auto results = [&](unsigned threads) {
    const ap::Host<double> host{threads};
    Numbers y(dy.size()), dx(x.size()), dw(w.size());
    host.convolution(c).forward(x.data(), w.data(), nullptr, y.data());
    host.convolution(c).back_to_input(dy.data(), w.data(), dx.data());
    host.convolution(c).back_to_weight(x.data(), dy.data(), dw.data());
    y.insert(y.end(), dx.begin(), dx.end());
    y.insert(y.end(), dw.begin(), dw.end());
    return y;
  };
  const Numbers one = results(1);
  for (const unsigned threads : {2u, 3u, 7u}) CHECK(results(threads) == one);
}

// Convolutions of many images take one pixel of several images at a time, or several images together.
TEST_CASE("conv2d: many images agree with the definition, and have the bits of single images") {
  struct Large {
    ap::Shape in;
    std::size_t filters, size, stride, padding;
  };
  const Large shapes[] = {{{4, 4, 16}, 33, 3, 1, 1}, {{2, 2, 12}, 16, 3, 1, 1}, {{1, 1, 5}, 3, 3, 1, 1},
                          {{7, 5, 13}, 20, 3, 1, 1}, {{6, 8, 3}, 17, 5, 1, 2},  {{5, 4, 14}, 9, 4, 2, 1},
                          {{3, 3, 12}, 4, 3, 3, 2},  {{2, 3, 12}, 2, 2, 1, 3},  {{8, 12, 2}, 5, 3, 1, 0},
                          {{3, 20, 12}, 6, 3, 1, 1}, {{2, 2, 12}, 6, 2, 4, 1},  {{3, 4, 6}, 5, 1, 1, 0}};
  for (const Large& of : shapes)
    for (const std::size_t images : {1u, 8u, 11u, 30u}) {
      const ap::Convolution c{.images = images,
                              .rows = of.in[0],
                              .cols = of.in[1],
                              .channels = of.in[2],
                              .filters = of.filters,
                              .size = of.size,
                              .stride = of.stride,
                              .padding = of.padding};
      INFO(images, " images of ", of.in[0], " x ", of.in[1], " x ", of.in[2], ", ", of.filters, " filters of ",
           of.size);
      const Numbers x = normals(images * c.inputs(), 1), w = normals(c.weights(), 2), b = normals(c.filters, 3),
                    dy = normals(images * c.outputs(), 4);
      const ap::Host<double> host;
      Numbers y(dy.size(), NAN), dx(x.size(), NAN), dw(w.size(), NAN);
      host.convolution(c).forward(x.data(), w.data(), b.data(), y.data());
      host.convolution(c).back_to_input(dy.data(), w.data(), dx.data());
      host.convolution(c).back_to_weight(x.data(), dy.data(), dw.data());

      const ap::Conv2d conv{.filters = of.filters, .size = of.size, .stride = of.stride, .padding = of.padding};
      CHECK(distance(y, naive(conv, of.in, images, x, w.data(), b.data())) < 1e-12);
      Numbers true_dx(x.size()), true_dw(w.size());
      std::size_t at = 0;
      for (std::size_t n = 0; n < images; ++n)
        for (std::size_t o = 0; o < c.out_rows(); ++o)
          for (std::size_t q = 0; q < c.out_cols(); ++q)
            for (std::size_t f = 0; f < c.filters; ++f, ++at)
              for (std::size_t i = 0; i < c.size; ++i)
                for (std::size_t j = 0; j < c.size; ++j)
                  for (std::size_t k = 0; k < c.channels; ++k) {
                    const std::size_t row = o * c.stride + i, col = q * c.stride + j, p = c.padding;
                    if (row < p || row >= c.rows + p || col < p || col >= c.cols + p) continue;
                    const std::size_t pixel = ((n * c.rows + row - p) * c.cols + col - p) * c.channels + k;
                    const std::size_t weight = ((f * c.size + i) * c.size + j) * c.channels + k;
                    true_dx[pixel] += dy[at] * w[weight];
                    true_dw[weight] += dy[at] * x[pixel];
                  }
      CHECK(distance(dx, true_dx) < 1e-12);
      CHECK(distance(dw, true_dw) < 1e-12);

      ap::Convolution single = c;
      single.images = 1;
      Numbers single_y(y.size()), single_dx(dx.size());
      for (std::size_t n = 0; n < images; ++n) {
        host.convolution(single).forward(x.data() + n * c.inputs(), w.data(), b.data(),
                                         single_y.data() + n * c.outputs());
        host.convolution(single).back_to_input(dy.data() + n * c.outputs(), w.data(),
                                               single_dx.data() + n * c.inputs());
      }
      CHECK(y == single_y);
      CHECK(dx == single_dx);
    }
}

TEST_CASE("conv2d: padding that does not fit in memory") {
  const ap::Convolution c{.images = 1,
                          .rows = 4,
                          .cols = 4,
                          .channels = 1,
                          .filters = 1,
                          .size = 1,
                          .stride = std::size_t{1} << 31,
                          .padding = (std::size_t{1} << 30) - 2};
  const Numbers x(16), w(1);
  Numbers y(1);
  CHECK_THROWS_AS(ap::Host<double>{}.convolution(c).forward(x.data(), w.data(), nullptr, y.data()), ap::OutOfMemory);
}

TEST_CASE("conv2d: initial values, kinds and errors") {
  const ap::Model model(ap::Shape{8, 8, 16}, ap::Conv2d{.filters = 100, .size = 5});
  CHECK(first_variance(model, "0.weight") == near(2.0 / 400, 0.02));
  const ap::Layout layout = ap::layout_of(model);
  CHECK(layout.spec(layout.find("0.weight")).kind == ap::Kind::conv_weight);
  CHECK(layout.spec(layout.find("0.weight")).shape == ap::Shape{100, 5, 5, 16});
  CHECK(declare_error(ap::Model(ap::Shape{64}, ap::Conv2d{})) ==
        "0: Conv2d got examples of shape {64}, expected {rows, columns, channels}");
  CHECK(declare_error(ap::Model(ap::Shape{4, 2, 1}, ap::Conv2d{.size = 3})) ==
        "0: Conv2d has size 3 and padding 0, which does not fit examples of shape {4, 2, 1}");
  CHECK(declare_error(ap::Model(ap::Shape{4, 4, 1}, ap::Conv2d{.stride = 0})) ==
        "0: Conv2d has size 3 and stride 0, expected both at least 1");
  CHECK(declare_error(ap::Model(ap::Shape{4, 4, 1}, ap::Conv2d{.filters = 0})) ==
        "0: Conv2d has filters 0, expected at least 1");
}

// The batch of 40 exceeds the number of images that a provider of convolutions processes at a time.
TEST_CASE("conv2d: the gradient of a batch is the sum of the gradients of its examples") {
  const ap::Conv2d conv{.filters = 3, .size = 3, .stride = 2, .padding = 1};
  const ap::Model model(ap::Shape{5, 4, 2}, conv);
  const ap::Layout layout = ap::layout_of(model);
  const Start whole{40, 40, normals(layout.size(), 1), normals(40 * 40, 2), normals(40 * model.output().size(), 3)};
  const Outcome found = run(model, whole, ap::Host<float>{});
  Numbers sum(layout.size());
  for (std::size_t i = 0; i < 40; ++i) {
    const auto cut = [i](const Numbers& all) {
      const auto n = static_cast<std::ptrdiff_t>(all.size() / 40), at = static_cast<std::ptrdiff_t>(i) * n;
      return Numbers(all.begin() + at, all.begin() + at + n);
    };
    const Outcome one = run(model, {1, 1, whole.values, cut(whole.input), cut(whole.d_outputs)}, ap::Host<double>{});
    for (const ap::TensorHandle handle : layout.tensors())
      for (std::size_t j = 0; j < layout.place_of(handle).size; ++j)
        sum[layout.place_of(handle).offset + j] += one.gradients[layout.place_of(handle).offset + j];
    CHECK(distance(cut(found.outputs), one.outputs) < tolerance<ap::Host<float>>());
    CHECK(distance(cut(found.d_input), one.d_input) < tolerance<ap::Host<float>>());
  }
  for (const ap::TensorHandle handle : layout.tensors()) {
    const auto cut = [&](const Numbers& all) {
      const auto at = all.begin() + static_cast<std::ptrdiff_t>(layout.place_of(handle).offset);
      return Numbers(at, at + static_cast<std::ptrdiff_t>(layout.place_of(handle).size));
    };
    CHECK(distance(cut(found.gradients), cut(sum)) < tolerance<ap::Host<float>>());
  }
}

TEST_CASE("conv2d: results do not depend on the number of threads") {
  const ap::Model model(ap::Shape{14, 14, 8}, ap::Conv2d{.filters = 16, .size = 5, .padding = 2});
  const Start start{40, 40, {}, {}, {}};
  const Outcome one = run(model, start, ap::Host<float>{.scratch = 1 << 16});
  const Outcome two = run(model, start, ap::Host<float>{.threads = 2, .scratch = 1 << 16});
  CHECK(one.outputs == two.outputs);
  CHECK(one.d_input == two.d_input);
  CHECK(one.gradients == two.gradients);
}

}  // namespace
