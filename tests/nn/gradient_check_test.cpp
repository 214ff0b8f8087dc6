#include "algoperf/nn/gradient_check.hpp"

#include "algoperf/nn/layers/dense.hpp"
#include "algoperf/nn/layers/embedding.hpp"
#include "runner.hpp"

using namespace nn_test;

namespace {

// A wrong backward that omits the inner derivative.
struct Wrong : Softsign {
  template <class B, class S>
  void backward(const ap::LayerCall<B>& call, Handles, ap::Shape in, const S*, const S*, const S* dy, S* dx) const {
    if (dx != nullptr) call.backend.copy(call.batch * in.size(), dy, dx);
  }
};

// A wrong backward that fills dx with NaN, as if it had not written it.
struct Silent : Softsign {
  template <class B, class S>
  void backward(const ap::LayerCall<B>& call, Handles, ap::Shape in, const S*, const S*, const S*, S* dx) const {
    if (dx != nullptr) call.backend.fill(call.batch * in.size(), dx, static_cast<S>(NAN));
  }
};

constexpr ap::SoftmaxCrossEntropy cross_entropy;

TEST_CASE("gradient check: locates a wrong backward") {
  const auto input = ap::gradient_check(ap::Model(ap::Shape{4}, Wrong{}), cross_entropy);
  CHECK(input.error > 0.05);
  CHECK(input.tensor == "input");
  const auto before = ap::gradient_check(ap::Model(ap::Shape{4}, ap::Dense{.units = 3}, Wrong{}), cross_entropy);
  CHECK(before.error > 0.05);
  CHECK(std::abs(before.analytic - before.numeric) > 1e-3);
  CHECK(ap::gradient_check(ap::Model(ap::Shape{4}, Softsign{}), cross_entropy).error < 1e-6);
}

TEST_CASE("gradient check: errors are relative to the gradients, however small they are") {
  const ap::GradientCheckOptions options{.floor = 1e-9, .weights = {1e-4, 1e-4, 1e-4}};
  CHECK(ap::gradient_check(ap::Model(ap::Shape{4}, Wrong{}), cross_entropy, options).error > 0.05);
  CHECK(ap::gradient_check(ap::Model(ap::Shape{4}, Softsign{}), cross_entropy, options).error < 1e-4);
}

TEST_CASE("gradient check: NaN never passes") {
  const auto check = ap::gradient_check(ap::Model(ap::Shape{4}, ap::Dense{.units = 3}, Silent{}), cross_entropy);
  CHECK(check.error == 2);
  CHECK(check.tensor == "0.weight");
}

TEST_CASE("gradient check: invalid options are rejected") {
  const ap::Model model(ap::Shape{4}, Softsign{});
  CHECK_THROWS_WITH_AS(ap::gradient_check(model, cross_entropy, {.batch = 3, .capacity = 2}),
                       "gradient_check: batch is 3, expected at least 1 and at most the capacity of 2", ap::Error);
  CHECK_THROWS_WITH_AS(ap::gradient_check(model, cross_entropy, {.batch = 3, .weights = {1, 1}}),
                       "gradient_check: there are 2 weights, expected one for each of the 3 rows of the losses",
                       ap::Error);
}

TEST_CASE("gradient check: tokens are drawn from the model's vocabulary") {
  const ap::Model model(ap::Shape{6}, ap::Embedding{.vocabulary = 2, .width = 3}, ap::Dense{.units = 3});
  static_assert(ap::Model(ap::Shape{6}, ap::Sequential(ap::Embedding{.vocabulary = 2})).tokens() == 2);
  CHECK(ap::gradient_check(model, cross_entropy, {.batch = 8, .samples = 0}).error < 1e-6);
  CHECK(ap::gradient_check(model, cross_entropy, {.tokens = 1}).error < 1e-6);
  CHECK_THROWS_WITH_AS(ap::gradient_check(model, cross_entropy, {.tokens = 3}),
                       "gradient_check: tokens is 3, expected at most 2, the size of the model's vocabulary",
                       ap::Error);
}

}  // namespace
