// Recordings of speech as fields: windows of log-mel spectrograms, and what is said.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "in_memory_fields.hpp"
#include "log_mel.hpp"

namespace algoperf {

// "input" {7, bands, 1} on the ragged axis "frames": the frames t - 3 to t + 3 of a log-mel spectrogram for every
// fourth frame t; "label" on the ragged axis "symbols"; and "length", the number of labels.
using SpeechFields = InMemoryFields<Field<"input", float>, Field<"label", std::int32_t>, Field<"length", float>>;

// What is said in a recording, as symbols from 1 on; 0 is the blank of CtcLoss.
struct Utterance {
  std::vector<float> samples;
  std::vector<std::int32_t> symbols;
};

// The mean and the standard deviation of each band.
struct BandStatistics {
  std::vector<double> mean, deviation;
};

// Returns the statistics over all frames of the utterances.
inline BandStatistics band_statistics(std::span<const Utterance> utterances, const LogMel& log_mel) {
  BandStatistics all{std::vector<double>(log_mel.bands), std::vector<double>(log_mel.bands)};
  std::size_t frames = 0;
  for (const Utterance& utterance : utterances) {
    const std::vector<float> values = log_mel(utterance.samples);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double x = static_cast<double>(values[i]);
      all.mean[i % log_mel.bands] += x;
      all.deviation[i % log_mel.bands] += x * x;
    }
    frames += values.size() / log_mel.bands;
  }
  require(frames > 0, "band_statistics: no utterance is as long as a frame of ", log_mel.window, " samples");
  for (std::size_t b = 0; b < log_mel.bands; ++b) {
    all.mean[b] /= static_cast<double>(frames);
    all.deviation[b] = std::sqrt(all.deviation[b] / static_cast<double>(frames) - all.mean[b] * all.mean[b]);
    require(all.deviation[b] > 0, "band_statistics: band ", b, " is constant");
  }
  return all;
}

// Returns utterances as fields, with bands standardised by `statistics`, which are usually those of the training data.
// Throws Error, naming the utterance, if it has too few windows for CTC to spell its symbols.
inline SpeechFields speech_fields(std::span<const Utterance> utterances, const LogMel& log_mel,
                                  const BandStatistics& statistics) {
  constexpr std::size_t window = 7, hop = 4;
  const std::size_t bands = log_mel.bands;
  require(statistics.mean.size() == bands && statistics.deviation.size() == bands,
          "speech_fields: there are statistics of ", statistics.mean.size(), " bands, the spectrograms have ", bands);
  RaggedAxis frames{"frames", {}}, symbols{"symbols", {}};
  std::vector<float> inputs, lengths;
  std::vector<std::int32_t> labels;
  for (std::size_t u = 0; u < utterances.size(); ++u) {
    std::vector<float> values = log_mel(utterances[u].samples);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>((static_cast<double>(values[i]) - statistics.mean[i % bands]) /
                                     statistics.deviation[i % bands]);
    const std::size_t all = values.size() / bands, windows = all < window ? 0 : (all - window) / hop + 1;
    const std::vector<std::int32_t>& said = utterances[u].symbols;
    std::size_t least = said.size();
    for (std::size_t i = 1; i < said.size(); ++i) least += said[i] == said[i - 1];
    require(windows >= least, "speech_fields: utterance ", u, " has ", windows, " windows of ", window,
            " frames, expected at least ", least, " for its ", said.size(), " symbols");
    for (std::size_t w = 0; w < windows; ++w)
      inputs.insert(inputs.end(), values.begin() + static_cast<std::ptrdiff_t>(w * hop * bands),
                    values.begin() + static_cast<std::ptrdiff_t>((w * hop + window) * bands));
    frames.rows.push_back(static_cast<std::uint32_t>(windows));
    symbols.rows.push_back(static_cast<std::uint32_t>(said.size()));
    labels.insert(labels.end(), said.begin(), said.end());
    lengths.push_back(static_cast<float>(said.size()));
  }
  return SpeechFields({std::move(frames), std::move(symbols)}, {std::move(inputs), {window, bands, 1}, "frames"},
                      {std::move(labels), {1}, "symbols"}, {std::move(lengths), {1}});
}

}  // namespace algoperf
