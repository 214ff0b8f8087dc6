#include "algoperf/nn/losses/sigmoid_cross_entropy.hpp"

#include "../support/near.hpp"
#include "algoperf/nn/layers/dense.hpp"
#include "runner.hpp"

using namespace nn_test;

namespace {

struct Found {
  std::vector<double> losses, d_logits;
};

Found loss_of(std::vector<double> logits, std::vector<std::int32_t> labels, std::vector<double> weights,
              double smoothing) {
  const ap::Host<double> host;
  const std::size_t batch = labels.size();
  Found found{std::vector<double>(batch), std::vector<double>(logits.size())};
  ap::SigmoidCrossEntropy{.label_smoothing = smoothing}.write(host, batch, logits.size() / batch, logits.data(),
                                                              labels.data(), weights.data(), found.losses.data(),
                                                              found.d_logits.data());
  return found;
}

// torch.nn.functional.binary_cross_entropy_with_logits in double.
TEST_CASE("sigmoid cross-entropy: torch's numbers") {
  const Found found = loss_of({2, -1, 0.5, -30, 0, 3}, {1, 0}, {1, 2}, 0.1);
  CHECK(distance(found.losses, {4.2392666827413024, 32.091734532133785}) < 1e-15);
  CHECK(distance(found.d_logits, {0.41539853898894114, -0.34052928931500248, 0.28622966560092727, -0.94999999999990647,
                                  0.45, 0.90257412682243332}) < 1e-15);
}

TEST_CASE("sigmoid cross-entropy: one logit, and large ones") {
  const Found found = loss_of({0.7, 0.7, 1000, -1000}, {1, 0, 0, 0}, {1, 1, 1, 1}, 0);
  CHECK(found.losses[0] == near(std::log1p(std::exp(-0.7)), 1e-14));
  CHECK(found.losses[1] == near(std::log1p(std::exp(0.7)), 1e-14));
  CHECK(found.losses[2] == 1000);
  CHECK(found.losses[3] == 0);
  CHECK(found.d_logits[2] == 0.25);
  CHECK(found.d_logits[3] == 0);
}

TEST_CASE("sigmoid cross-entropy: gradients") {
  for (const std::size_t classes : {1u, 2u, 5u}) {
    const auto check = ap::gradient_check(ap::Model(ap::Shape{4}, ap::Dense{.units = classes}),
                                          ap::SigmoidCrossEntropy{.label_smoothing = 0.2}, {.weights = {1, 0.5, 2}});
    CHECK(check.error < 1e-6);
  }
}

}  // namespace
