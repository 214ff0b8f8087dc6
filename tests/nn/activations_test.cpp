// Tanh, Silu, Gelu and GeluTanh at inputs that torch's golden values (golden_test.cpp) do not cover.
#include "algoperf/nn/layers/dense.hpp"
#include "algoperf/nn/layers/gelu.hpp"
#include "algoperf/nn/layers/silu.hpp"
#include "algoperf/nn/layers/tanh.hpp"
#include "runner.hpp"

using namespace nn_test;

namespace {

static_assert(ap::Layer<ap::Tanh> && ap::Layer<ap::Silu> && ap::Layer<ap::Gelu> && ap::Layer<ap::GeluTanh>);

// Compares with the C library on a fine grid.
TEST_CASE_TEMPLATE("activations: tanh and Gelu keep full precision everywhere", B, NN_BACKENDS) {
  Numbers x;
  for (double at = -30; at < 30; at += 0.013) x.push_back(at);
  for (double small = 1e-12; small < 0.3; small *= 1.7) x.push_back(small);
  for (double& at : x) at = static_cast<double>(static_cast<float>(at));
  const auto through = [&](const auto& layer) {
    return run<B>(ap::Model(ap::Shape{x.size()}, layer), {1, 1, {}, x, {}}).outputs;
  };
  const Numbers tanh = through(ap::Tanh{}), gelu = through(ap::Gelu{});
  const double relative = std::is_same_v<typename B::Scalar, double> ? 3e-14 : 4e-7;
  for (std::size_t i = 0; i < x.size(); ++i) {
    CAPTURE(x[i]);
    CHECK(std::abs(tanh[i] - std::tanh(x[i])) <= relative * std::abs(std::tanh(x[i])));
    // The rounding error of exp(-x^2 / 2), up to x^2 / 2 ulps, carries over to Gelu.
    const double exact = 0.5 * x[i] * std::erfc(-x[i] / std::sqrt(2.0)), bell = x[i] < 0 ? 1 + x[i] * x[i] / 4 : 1;
    const double least = std::is_same_v<typename B::Scalar, double> ? 1e-290 : 1e-35;
    CHECK(std::abs(gelu[i] - exact) <= bell * relative * std::abs(exact) + least);
  }
}

TEST_CASE_TEMPLATE("activations: infinities and NaN", B, NN_BACKENDS) {
  const Numbers x{-INFINITY, INFINITY, NAN};
  const auto through = [&](const auto& layer) {
    return run<B>(ap::Model(ap::Shape{3}, layer), {1, 1, {}, x, {}}).outputs;
  };
  const Numbers tanh = through(ap::Tanh{});
  CHECK(tanh[0] == -1);
  CHECK(tanh[1] == 1);
  CHECK(std::isnan(tanh[2]));
  CHECK(through(ap::Gelu{})[0] == 0);
  CHECK(through(ap::Gelu{})[1] == INFINITY);
  CHECK(std::isnan(through(ap::Gelu{})[2]));
  CHECK(std::isnan(through(ap::Silu{})[2]));
}

TEST_CASE_TEMPLATE("activations: gradients", B, NN_BACKENDS) {
  const auto check = [](const auto& layer) {
    check_model<B>(ap::Model(ap::Shape{5, 7}, layer), {.batch = 3, .capacity = 4});
    check_model<B>(ap::Model(ap::Shape{6}, ap::Dense{.units = 19}, layer, ap::Dense{.units = 4}, layer));
  };
  check(ap::Tanh{});
  check(ap::Silu{});
  check(ap::Gelu{});
  check(ap::GeluTanh{});
}

}  // namespace
