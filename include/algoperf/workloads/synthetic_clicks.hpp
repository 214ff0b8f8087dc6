#pragma once

#include <cstdint>
#include <string>

#include "../data/slice.hpp"
#include "../data/synthetic/clicks.hpp"
#include "../nn/losses/sigmoid_cross_entropy.hpp"
#include "../nn/metrics/cross_entropy.hpp"
#include "../nn/models/dlrm.hpp"
#include "concept.hpp"
#include "shared_data.hpp"

namespace algoperf {

// The model of Adult on synthetic clicks (Clicks), whose least possible cross-entropy is known: 200,000 examples for
// training, 10,000 for validation and 10,000 for testing. The target is a cross-entropy `excess` nats above the mean
// conditional entropy of the validation labels, Clicks::best_loss(). On 10,000 sampled labels, the cross-entropy of the
// true probabilities has a standard deviation of about 0.005.
struct SyntheticClicks {
  std::string name = "synthetic_clicks";
  double excess = 0.005;
  detail::SharedData<NumbersAndCategories> rows = {};

  Dlrm model() const {
    const Clicks clicks;
    return {.numbers = clicks.numbers, .categories = clicks.categories, .vocabulary = clicks.tokens()};
  }
  SigmoidCrossEntropy loss() const { return {}; }
  CrossEntropy metric() const { return {}; }
  Target target() const { return {excess + Clicks{.first = training, .count = held_out}.best_loss(), true}; }
  std::uint64_t step_hint() const { return 3000; }
  Slice<NumbersAndCategories> train() const { return load().subset(0, training); }
  Slice<NumbersAndCategories> validation() const { return load().subset(training, training + held_out); }
  Slice<NumbersAndCategories> test() const { return load().subset(training + held_out, training + 2 * held_out); }

 private:
  static constexpr std::uint64_t training = 200000, held_out = 10000;

  const NumbersAndCategories& load() const {
    return rows("synthetic clicks", [] { return Clicks{.count = training + 2 * held_out}.draw(); });
  }
};

}  // namespace algoperf
