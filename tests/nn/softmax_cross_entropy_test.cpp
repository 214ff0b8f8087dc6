#include "algoperf/nn/losses/softmax_cross_entropy.hpp"

#include "../support/near.hpp"
#include "runner.hpp"

using namespace nn_test;

namespace {

// Returns the loss of one example, computed in float.
double loss_of(const std::vector<float>& logits, std::int32_t label, double smoothing) {
  const ap::Host<float> host;
  float loss = 0;
  ap::SoftmaxCrossEntropy{.label_smoothing = smoothing}.write(host, 1, logits.size(), logits.data(), &label,
                                                              static_cast<const float*>(nullptr), &loss,
                                                              static_cast<float*>(nullptr));
  return static_cast<double>(loss);
}

TEST_CASE("softmax cross-entropy: large logits keep full precision") {
  const double first = std::log1p(std::exp(-1.0)), second = first + 1;
  for (const float top : {0.0f, 1e5f, -1e5f}) {
    CAPTURE(top);
    CHECK(loss_of({top, top - 1}, 0, 0) == near(first, 1e-6));
    CHECK(loss_of({top, top - 1}, 1, 0) == near(second, 1e-6));
    CHECK(loss_of({top, top - 1}, 0, 0.2) == near(0.9 * first + 0.1 * second, 1e-6));
  }
}

TEST_CASE("softmax cross-entropy: gradients of many classes, wherever the largest logit is") {
  constexpr std::size_t classes = 37;
  const ap::Host<float> host;
  const float weight = 0.7f;
  for (std::size_t top = 0; top < classes; ++top)
    for (const double smoothing : {0.0, 0.2}) {
      std::vector<float> z(classes), d(classes);
      for (std::size_t c = 0; c < classes; ++c) z[c] = static_cast<float>(std::sin(0.1 + 1.3 * static_cast<double>(c)));
      z[top] = 300;  // exp(300) is infinite in float
      z[(top + 5) % classes] = 299;
      const auto label = static_cast<std::int32_t>((top + 5) % classes);
      float loss = 0;
      ap::SoftmaxCrossEntropy{.label_smoothing = smoothing}.write(host, 1, classes, z.data(), &label, &weight, &loss,
                                                                  d.data());
      double total = 0, expected = 0;
      for (const float each : z) total += std::exp(static_cast<double>(each) - 300);
      for (std::size_t c = 0; c < classes; ++c) {
        const double q = smoothing / classes + (c == static_cast<std::size_t>(label) ? 1 - smoothing : 0);
        const double log_p = static_cast<double>(z[c]) - 300 - std::log(total);
        expected -= q * log_p;
        CHECK(std::abs(static_cast<double>(d[c]) - 0.7 * (std::exp(log_p) - q)) < 1e-6);
      }
      CHECK(static_cast<double>(loss) == near(expected, 1e-4));
    }
}

}  // namespace
