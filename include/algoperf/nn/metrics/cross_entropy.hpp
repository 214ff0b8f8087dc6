#pragma once

#include <cstddef>
#include <cstdint>

#include "../losses/sigmoid_cross_entropy.hpp"
#include "../losses/softmax_cross_entropy.hpp"

namespace algoperf {

// The mean cross-entropy in nats, without label smoothing: softmax cross-entropy, or sigmoid cross-entropy for models
// with one output. Lower is better.
struct CrossEntropy {
  static constexpr const char* name = "cross-entropy";
  static constexpr bool lower_is_better = true;

  template <class B, class S>
  void write(const B& backend, std::size_t batch, std::size_t classes, const S* logits, const std::int32_t* labels,
             Arithmetic<S>* scores) const {
    const auto score = [&](const auto& loss) {
      loss.write(backend, batch, classes, logits, labels, nullptr, scores, static_cast<S*>(nullptr));
    };
    if (classes == 1)
      score(SigmoidCrossEntropy{});
    else
      score(SoftmaxCrossEntropy{});
  }
};

}  // namespace algoperf
