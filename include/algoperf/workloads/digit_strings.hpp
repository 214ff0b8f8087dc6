#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../data/strings_of_digits.hpp"
#include "../data/transformed.hpp"
#include "../nn/losses/ctc_loss.hpp"
#include "../nn/metrics/word_error_rate.hpp"
#include "concept.hpp"
#include "data_root.hpp"
#include "shared_data.hpp"
#include "speech_networks.hpp"
#include "variants.hpp"

namespace algoperf {

namespace detail {

struct SpeechSplits {
  LogMel log_mel;
  BandStatistics statistics;
  SpeechFields train, validation, test;
};

}  // namespace detail

// AlgoPerf's librispeech_deepspeech and librispeech_conformer in miniature: strings of 1 to 5 digits, each string
// spoken by one speaker, from the recordings in `data`/spoken-digits/recordings.tar, plain or gzipped. There are
// `strings` for training, 400 for validation and 400 for testing, of different recordings of the same six speakers. The
// target is the word error rate on the validation strings, where each digit is a word. Spectrograms are standardised by
// the statistics of the first 500 training strings. Training masks random stretches of them (SpecAugment). With
// prefetched(workload.train()), a background thread does so. Departures from AlgoPerf: digits instead of subwords, and
// those of DeepSpeech and Conformer.
template <class Network>
struct DigitStringsWorkload {
  std::string name = "digit_strings_" + detail::network_name<Network>();
  std::string base = "digit_strings_" + detail::base_network_name<Network>();
  std::string data = data_root();
  std::size_t strings = 3000;  // for training
  double target_error = Network::target_error;
  detail::SharedData<detail::SpeechSplits> splits = {};

  auto model() const { return Network::model(); }
  CtcLoss loss() const { return {.max_labels = most_digits, .weight_field = "length"}; }
  WordErrorRate metric() const { return {}; }
  Target target() const { return {target_error, true}; }
  std::uint64_t step_hint() const { return 2000; }
  std::size_t batch_size() const { return 32; }
  auto train() const { return transformed(load().train, Network::masks()); }
  SpeechFields validation() const { return load().validation; }
  SpeechFields test() const { return load().test; }
  // Returns other utterances as fields, standardised by the same statistics. Throws Error unless they have the sample
  // rate of the recordings, 8 kHz.
  SpeechFields fields(std::span<const Utterance> utterances) const {
    return speech_fields(utterances, load().log_mel, load().statistics);
  }
  template <class Visit>
  void each_variant(const Visit& visit) const {
    detail::each_variant<Network>([&]<class V>() { visit(DigitStringsWorkload<V>{.data = data, .strings = strings}); });
  }

 private:
  static constexpr std::size_t most_digits = 5;

  // Of each speaker and digit, recordings 0 to 4 are for testing, 5 to 9 for validation and the others for training.
  const detail::SpeechSplits& load() const {
    const std::string path = data + "/spoken-digits/recordings.tar";
    return splits(std::to_string(strings) + " digit strings, " + path, [&] {
      SpokenDigits recordings = load_spoken_digits(path);
      std::vector<SpokenDigit> train, validation;
      for (SpokenDigit& each : recordings.train) (each.index < 10 ? validation : train).push_back(std::move(each));
      const auto draw = [&](const std::vector<SpokenDigit>& of, std::size_t count, std::uint64_t key) {
        return strings_of_digits(of, count, most_digits, RandomKey{key});
      };
      const LogMel log_mel;
      const std::vector<Utterance> first = draw(train, strings, 1);
      const BandStatistics statistics =
          band_statistics(std::span(first).first(std::min<std::size_t>(strings, 500)), log_mel);
      return detail::SpeechSplits{log_mel, statistics, speech_fields(first, log_mel, statistics),
                                  speech_fields(draw(validation, 400, 2), log_mel, statistics),
                                  speech_fields(draw(recordings.test, 400, 3), log_mel, statistics)};
    });
  }
};

using DigitStrings = DigitStringsWorkload<DigitDeepSpeech>;
using DigitStringsConformer = DigitStringsWorkload<DigitConformer>;

}  // namespace algoperf
