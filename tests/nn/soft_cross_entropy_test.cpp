#include "algoperf/nn/losses/soft_cross_entropy.hpp"

#include "../support/near.hpp"
#include "algoperf/nn/layers/dense.hpp"
#include "algoperf/nn/metrics/soft_error_rate.hpp"
#include "runner.hpp"

using namespace nn_test;

namespace {

struct Found {
  double losses[2];
  double d_logits[6];
};

Found soft(const std::vector<double>& logits, const std::vector<double>& labels, const double (&weights)[2]) {
  Found found{};
  ap::SoftCrossEntropy{}.write(ap::Host<double>{}, 2, 3, logits.data(), labels.data(), weights, found.losses,
                               found.d_logits);
  return found;
}

TEST_CASE("soft cross-entropy: labels that are smoothed classes give SoftmaxCrossEntropy with smoothing") {
  const std::vector<double> logits{0.3, -1.2, 2.0, 0.5, 0.1, -0.7};
  const std::int32_t classes[] = {2, 0};
  const double weights[] = {1, 0.5};
  for (const double s : {0.0, 0.3}) {
    Found expected{};
    ap::SoftmaxCrossEntropy{.label_smoothing = s}.write(ap::Host<double>{}, 2, 3, logits.data(), classes, weights,
                                                        expected.losses, expected.d_logits);
    const double rest = s / 3, top = 1 - s + rest;
    const Found found = soft(logits, {rest, rest, top, top, rest, rest}, weights);
    for (int i = 0; i < 2; ++i) CHECK(found.losses[i] == near(expected.losses[i], 1e-14));
    for (int i = 0; i < 6; ++i) CHECK(std::abs(found.d_logits[i] - expected.d_logits[i]) < 1e-15);
  }
}

TEST_CASE("soft cross-entropy: large logits, and labels of another sum") {
  const double weights[] = {1, 1};
  const Found found = soft({1e4, 0, 0, 0, 1, 0}, {0, 1, 0, 0.5, 0.5, 1}, weights);
  CHECK(found.losses[0] == 1e4);
  const double log_total = std::log(std::exp(1.0) + 2);
  CHECK(found.losses[1] == near(2 * log_total - 0.5, 1e-14));
  CHECK(found.d_logits[3] == near((2 / (std::exp(1.0) + 2) - 0.5) / 2, 1e-14));
}

TEST_CASE_TEMPLATE("soft cross-entropy: gradients", B, NN_BACKENDS) {
  for (const std::size_t classes : {1u, 2u, 5u}) {
    const auto check = ap::gradient_check(ap::Model(ap::Shape{4}, ap::Dense{.units = classes}), ap::SoftCrossEntropy{},
                                          {.weights = {1, 0.5, 2}});
    CHECK(check.error < 1e-6);
  }
}

TEST_CASE("soft error rate: a label stands for its most probable class") {
  const double outputs[] = {1, 3, 2, 1, 3, 2, 5, 0, 0}, labels[] = {0.1, 0.6, 0.3, 0.5, 0.2, 0.3, 0.4, 0.4, 0.2};
  double scores[3];
  ap::SoftErrorRate{}.write(ap::Host<double>{}, 3, 3, outputs, labels, scores);
  CHECK(scores[0] == 0);
  CHECK(scores[1] == 1);
  CHECK(scores[2] == 0);
  const double one_output[] = {0.2, -0.2, 0.2}, probability[] = {0.9, 0.9, 0.5};
  ap::SoftErrorRate{}.write(ap::Host<double>{}, 3, 1, one_output, probability, scores);
  CHECK(scores[0] == 0);
  CHECK(scores[1] == 1);
  CHECK(scores[2] == 1);
}

}  // namespace
