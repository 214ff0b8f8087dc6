#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../data/synthetic/touch_tones.hpp"
#include "../data/transformed.hpp"
#include "../nn/losses/ctc_loss.hpp"
#include "../nn/metrics/word_error_rate.hpp"
#include "concept.hpp"
#include "shared_data.hpp"
#include "speech_networks.hpp"
#include "variants.hpp"

namespace algoperf {

namespace detail {

struct TouchToneSplits {
  SpeechFields train, validation, test;
};

}  // namespace detail

// The recognisers of DigitStrings on synthetic recordings, dialled numbers of 1 to 5 digits (TouchTones): 3,000 for
// training, 400 for validation and 400 for testing. The metric is the word error rate on the validation numbers, where
// each digit is a word. The target is 0.005; the optimum is 0.
template <class Network>
struct TouchToneWorkload {
  std::string name = "touch_tones_" + detail::network_name<Network>();
  std::string base = "touch_tones_" + detail::base_network_name<Network>();
  double target_error = 0.005;
  detail::SharedData<detail::TouchToneSplits> splits = {};

  auto model() const { return Network::model(); }
  CtcLoss loss() const { return {.max_labels = 5, .weight_field = "length"}; }
  WordErrorRate metric() const { return {}; }
  Target target() const { return {target_error, true}; }
  std::uint64_t step_hint() const { return 600; }
  std::size_t batch_size() const { return 32; }
  auto train() const { return transformed(load().train, Network::masks()); }
  SpeechFields validation() const { return load().validation; }
  SpeechFields test() const { return load().test; }
  template <class Visit>
  void each_variant(const Visit& visit) const {
    detail::each_variant<Network>([&]<class V>() { visit(TouchToneWorkload<V>{}); });
  }

 private:
  const detail::TouchToneSplits& load() const {
    return splits("touch tones", [] {
      const std::vector<Utterance> train = TouchTones{.count = 3000}.draw();
      const LogMel log_mel;
      const BandStatistics statistics = band_statistics(std::span(train).first(500), log_mel);
      const auto held_out = [&](std::uint64_t first) {
        return speech_fields(TouchTones{.first = first, .count = 400}.draw(), log_mel, statistics);
      };
      return detail::TouchToneSplits{speech_fields(train, log_mel, statistics), held_out(3000), held_out(3400)};
    });
  }
};

using TouchToneStrings = TouchToneWorkload<DigitDeepSpeech>;
using TouchToneStringsConformer = TouchToneWorkload<DigitConformer>;

}  // namespace algoperf
