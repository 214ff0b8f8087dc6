#include "algoperf/nn/losses/sigmoid_cross_entropy.hpp"

#include "../support/near.hpp"
#include "algoperf/nn/layers/dense.hpp"
#include "runner.hpp"

using namespace nn_test;

namespace {

TEST_CASE("sigmoid cross-entropy: models with one logit, and large logits") {
  const ap::Host<double> host;
  const double logits[] = {0.7, 0.7, 1000, -1000}, weights[] = {1, 1, 1, 1};
  const std::int32_t labels[] = {1, 0, 0, 0};
  double losses[4], d_logits[4];
  ap::SigmoidCrossEntropy{}.write(host, 4, 1, logits, labels, weights, losses, d_logits);
  CHECK(losses[0] == near(std::log1p(std::exp(-0.7)), 1e-14));
  CHECK(losses[1] == near(std::log1p(std::exp(0.7)), 1e-14));
  CHECK(losses[2] == 1000);
  CHECK(losses[3] == 0);
  CHECK(d_logits[2] == 0.25);
  CHECK(d_logits[3] == 0);
}

TEST_CASE("sigmoid cross-entropy: gradients") {
  for (const std::size_t classes : {1u, 2u, 5u}) {
    const auto check = ap::gradient_check(ap::Model(ap::Shape{4}, ap::Dense{.units = classes}),
                                          ap::SigmoidCrossEntropy{.label_smoothing = 0.2}, {.weights = {1, 0.5, 2}});
    CHECK(check.error < 1e-6);
  }
}

}  // namespace
