#pragma once

#include "../data/synthetic/glyphs.hpp"
#include "../nn/losses/softmax_cross_entropy.hpp"
#include "../nn/metrics/error_rate.hpp"
#include "concept.hpp"
#include "digits.hpp"
#include "once.hpp"

namespace algoperf {

// Synthetic digits (data/synthetic/glyphs.hpp): 50,000 examples for training, 10,000 for validation, 10,000 for
// testing. The target is a validation error.
template <class Network>
struct GlyphWorkload {
  static constexpr const char* name = "glyphs";

  std::uint64_t seed = 1;
  double label_noise = 0;
  double target_error = 0.03;
  detail::Once<detail::DigitSplits> splits = {};

  auto model() const { return Network::model(); }
  SoftmaxCrossEntropy loss() const { return {}; }
  ErrorRate metric() const { return {}; }
  Target target() const { return {target_error, true}; }
  std::uint64_t step_hint() const { return 2000; }
  detail::Digits train() const { return load().train; }
  detail::Digits validation() const { return load().validation; }
  detail::Digits test() const { return load().test; }

 private:
  const detail::DigitSplits& load() const {
    return splits([this] {
      const InMemory<float> all = Glyphs{.seed = seed, .count = 70000, .label_noise = label_noise}.render();
      return detail::DigitSplits{all.subset(0, 50000), all.subset(50000, 60000), all.subset(60000, 70000)};
    });
  }
};

using GlyphDigits = GlyphWorkload<DigitMlp>;
using GlyphDigitsCnn = GlyphWorkload<DigitCnn>;

}  // namespace algoperf
