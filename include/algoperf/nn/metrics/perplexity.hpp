#pragma once

#include "../../core/math.hpp"
#include "cross_entropy.hpp"

namespace algoperf {

// exp(mean cross-entropy in nats over all rows), not the mean of exponentials: the metric of language models. Lower is
// better; uniform predictions over n classes have perplexity n.
struct Perplexity : CrossEntropy {
  static constexpr const char* name = "perplexity";

  double value(double mean) const { return math::exp(mean); }
};

}  // namespace algoperf
