#include "algoperf/nn/losses/binary_cross_entropy.hpp"

#include "../support/near.hpp"
#include "algoperf/nn/layers/dense.hpp"
#include "algoperf/nn/losses/sigmoid_cross_entropy.hpp"
#include "runner.hpp"

using namespace nn_test;

namespace {

TEST_CASE("binary cross-entropy: gradients") {
  for (const std::size_t width : {1u, 2u, 5u}) {
    const auto check = ap::gradient_check(ap::Model(ap::Shape{4}, ap::Dense{.units = width}), ap::BinaryCrossEntropy{},
                                          {.weights = {1, 0.5, 2}});
    CHECK(check.error < 1e-6);
  }
}

TEST_CASE("binary cross-entropy: equals sigmoid cross-entropy for one class per example; the metric is the loss") {
  const ap::Host<double> host;
  const double z[] = {0.7, -2, 1000, -1000, 0.1, 3}, weights[] = {1, 2};
  const std::int32_t labels[] = {2, 0};
  double numbers[6] = {0, 0, 1, 1, 0, 0}, expected[2], found[2], scores[2], d_expected[6], d_found[6];
  ap::SigmoidCrossEntropy{}.write(host, 2, 3, z, labels, weights, expected, d_expected);
  ap::BinaryCrossEntropy{}.write(host, 2, 3, z, numbers, weights, found, d_found);
  ap::BinaryCrossEntropy{}.write(host, 2, 3, z, numbers, scores);
  for (int i = 0; i < 2; ++i) CHECK(found[i] == near(expected[i], 1e-14));
  for (int i = 0; i < 2; ++i) CHECK(scores[i] == found[i]);
  for (int i = 0; i < 6; ++i) CHECK(d_found[i] == near(d_expected[i], 1e-14));
}

}  // namespace
