#include "algoperf/nn/layers/dropout.hpp"

#include <algorithm>

#include "../support/near.hpp"
#include "algoperf/nn/layers/dense.hpp"
#include "algoperf/nn/layers/relu.hpp"
#include "runner.hpp"

using namespace nn_test;

namespace {

static_assert(ap::Layer<ap::Dropout>);

template <class B>
Numbers through(const ap::Dropout& dropout, std::size_t batch, std::size_t width, ap::RandomKey key,
                std::size_t first = 0, ap::Mode mode = ap::Mode::train) {
  using S = typename B::Scalar;
  const B backend{};
  const ap::Layout layout;
  std::vector<S> x(batch * width, S(1));
  const ap::LayerCall<B> call{backend, layout, nullptr, nullptr, batch,   batch,
                              mode,    key,    nullptr, nullptr, nullptr, first};
  dropout.forward(call, {}, ap::Shape{width}, x.data(), x.data());
  return {x.begin(), x.end()};
}

TEST_CASE_TEMPLATE("dropout: drops elements independently with probability rate, and keeps the mean", B, NN_BACKENDS) {
  const std::size_t batch = 200, width = 503;
  const double n = batch * width;
  for (const double rate : {0.0, 0.1, 0.5, 0.9}) {
    const Numbers y = through<B>({.rate = rate}, batch, width, ap::RandomKey{7});
    double dropped = 0, pairs = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      CHECK((y[i] == 0 || y[i] == near(1 / (1 - rate), 1e-6)));
      dropped += y[i] == 0;
      pairs += i > 0 && y[i] == 0 && y[i - 1] == 0;
    }
    CHECK(std::abs(dropped - n * rate) <= 4 * std::sqrt(n * rate * (1 - rate)));
    CHECK(std::abs(pairs - n * rate * rate) <= 5 * std::sqrt(n * rate));
  }
}

TEST_CASE_TEMPLATE("dropout: depends only on the key and the index in the batch", B, NN_BACKENDS) {
  const ap::Dropout half;
  const Numbers whole = through<B>(half, 10, 13, ap::RandomKey{3});
  CHECK(whole == through<B>(half, 10, 13, ap::RandomKey{3}));
  CHECK(whole != through<B>(half, 10, 13, ap::RandomKey{4}));
  const Numbers part = through<B>(half, 4, 13, ap::RandomKey{3}, 6);  // a worker's part, from example 6 on
  CHECK(std::equal(part.begin(), part.end(), whole.begin() + 6 * 13));
  CHECK(through<B>(half, 10, 13, ap::RandomKey{3}, 0, ap::Mode::evaluate) == Numbers(130, 1));
}

TEST_CASE_TEMPLATE("dropout: each element of an example has a random word of its own", B, NN_BACKENDS) {
  constexpr double rate = 0.3;
  const auto threshold = static_cast<std::uint32_t>(rate * 0x1p32);
  for (const std::size_t width : {1u, 3u, 4u, 13u, 64u, 129u}) {
    CAPTURE(width);
    const Numbers y = through<B>({.rate = rate}, 5, width, ap::RandomKey{11}, 2);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const std::size_t row = i / width, column = i % width;
      const std::uint32_t word = ap::philox(11, column / 4, 2 + row).words[column % 4];
      CHECK((y[i] == 0) == (word < threshold));
    }
  }
}

TEST_CASE_TEMPLATE("dropout: gradients pass through the elements that were kept", B, NN_BACKENDS) {
  check_model<B>(ap::Model(ap::Shape{7}, ap::Dropout{}), {.batch = 3, .capacity = 4});
  check_model<B>(ap::Model(ap::Shape{6}, ap::Dense{.units = 19}, ap::Relu{}, ap::Dropout{.rate = 0.3},
                           ap::Dense{.units = 5}, ap::Dropout{.rate = 0.1}));
}

TEST_CASE("dropout: errors") {
  CHECK(declare_error(ap::Model(ap::Shape{4}, ap::Dropout{.rate = 1})) == "0: Dropout has rate 1, expected [0, 1)");
}

}  // namespace
