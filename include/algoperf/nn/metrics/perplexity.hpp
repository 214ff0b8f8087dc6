#pragma once

#include "../../core/math.hpp"
#include "cross_entropy.hpp"

namespace algoperf {

// exp(the mean cross-entropy in nats over all rows), the metric of language models. Not the mean of exponentials. Lower
// is better; a model that knows nothing has the number of classes.
struct Perplexity : CrossEntropy {
  static constexpr const char* name = "perplexity";

  double value(double mean) const { return math::exp(mean); }
};

}  // namespace algoperf
