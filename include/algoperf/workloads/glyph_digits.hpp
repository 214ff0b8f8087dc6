#pragma once

#include <cstdint>
#include <string>

#include "../core/config.hpp"
#include "../data/synthetic/glyphs.hpp"
#include "../nn/losses/softmax_cross_entropy.hpp"
#include "../nn/metrics/error_rate.hpp"
#include "concept.hpp"
#include "digit_networks.hpp"
#include "digits.hpp"
#include "shared_data.hpp"
#include "variants.hpp"

namespace algoperf {

namespace detail {

// Returns the splits of Glyphs with this seed and label noise. Renders them unless a workload holds them already.
// `splits` shares their ownership.
const DigitSplits& load_glyph_splits(const SharedData<DigitSplits>& splits, std::uint64_t seed, double label_noise);

#if ALGOPERF_DEFINES_COMPILED
ALGOPERF_COMPILED ALGOPERF_COLD const DigitSplits& load_glyph_splits(const SharedData<DigitSplits>& splits,
                                                                     std::uint64_t seed, double label_noise) {
  const std::string key = "glyphs, seed " + std::to_string(seed) + ", noise " + std::to_string(label_noise);
  return splits(key, [&] {
    const InMemory<float> all = Glyphs{.seed = seed, .count = 70000, .label_noise = label_noise}.render();
    return DigitSplits{all.subset(0, 50000), all.subset(50000, 60000), all.subset(60000, 70000)};
  });
}
#endif

}  // namespace detail

// Synthetic digits (data/synthetic/glyphs.hpp): 50,000 examples for training, 10,000 for validation, 10,000 for
// testing. The target is a validation error.
template <class Network>
struct GlyphWorkload {
  std::string name = "glyphs_" + detail::network_name<Network>();
  std::string base = "glyphs_" + detail::base_network_name<Network>();
  std::uint64_t seed = 1;
  double label_noise = 0;
  double target_error = Network::glyph_error;
  detail::SharedData<detail::DigitSplits> splits = {};

  auto model() const { return Network::model(); }
  SoftmaxCrossEntropy loss() const { return detail::digit_loss<Network>(); }
  ErrorRate metric() const { return {}; }
  Target target() const { return {target_error, true}; }
  std::uint64_t step_hint() const { return Network::step_hint; }
  detail::Digits train() const { return load().train; }
  detail::Digits validation() const { return load().validation; }
  detail::Digits test() const { return load().test; }
  template <class Visit>
  void each_variant(const Visit& visit) const {
    detail::each_variant<Network>(
        [&]<class V>() { visit(GlyphWorkload<V>{.seed = seed, .label_noise = label_noise}); });
  }

 private:
  const detail::DigitSplits& load() const { return detail::load_glyph_splits(splits, seed, label_noise); }
};

using GlyphDigits = GlyphWorkload<DigitMlp>;
using GlyphDigitsCnn = GlyphWorkload<DigitCnn>;
using GlyphDigitsLinear = GlyphWorkload<DigitLinear>;
using GlyphDigitsResNet = GlyphWorkload<DigitResNet8>;
using GlyphDigitsVit = GlyphWorkload<DigitVit>;

}  // namespace algoperf
