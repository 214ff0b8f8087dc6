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

}  // namespace
