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

// How a spectrogram is cut into windows, the rows of "input".
struct SpeechWindow {
  static constexpr std::size_t frames = 7, hop = 4;
};

// "input" {7, bands, 1} on the ragged axis "frames": row i holds the frames 4 i to 4 i + 6 of a log-mel spectrogram;
// "label" on the ragged axis "symbols"; and "length", the number of labels.
using SpeechFields = InMemoryFields<Field<"input", float>, Field<"label", std::int32_t>, Field<"length", float>>;

// What is said in a recording, as symbols from 1 on; 0 is the blank of CtcLoss.
struct Utterance {
  std::vector<float> samples;
  std::vector<std::int32_t> symbols;
  std::uint32_t sample_rate = 8000;
};

// The mean and the standard deviation of each band.
struct BandStatistics {
  std::vector<double> mean, deviation;
};

namespace detail {

// Returns the spectrogram of an utterance. Throws Error if its sample rate is not that of `log_mel`.
inline std::vector<float> spectrogram(std::span<const Utterance> utterances, std::size_t u, const LogMel& log_mel) {
  require(static_cast<double>(utterances[u].sample_rate) == log_mel.rate, "utterance ", u, " has the sample rate ",
          utterances[u].sample_rate, ", LogMel expects ", log_mel.rate);
  return log_mel(utterances[u].samples);
}

}  // namespace detail

// Returns the statistics over all frames of the utterances.
inline BandStatistics band_statistics(std::span<const Utterance> utterances, const LogMel& log_mel) {
  const std::size_t bands = log_mel.bands;
  std::vector<float> values;
  for (std::size_t u = 0; u < utterances.size(); ++u) {
    const std::vector<float> of_utterance = detail::spectrogram(utterances, u, log_mel);
    values.insert(values.end(), of_utterance.begin(), of_utterance.end());
  }
  const double frames = static_cast<double>(values.size() / bands);
  require(frames > 0, "band_statistics: no utterance is as long as a frame of ", log_mel.window, " samples");
  BandStatistics all{std::vector<double>(bands), std::vector<double>(bands)};
  for (std::size_t i = 0; i < values.size(); ++i) all.mean[i % bands] += static_cast<double>(values[i]) / frames;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double distance = static_cast<double>(values[i]) - all.mean[i % bands];
    all.deviation[i % bands] += distance * distance / frames;
  }
  for (std::size_t b = 0; b < bands; ++b) {
    all.deviation[b] = std::sqrt(all.deviation[b]);
    require(all.deviation[b] > 1e-9, "band_statistics: band ", b, " is constant");
  }
  return all;
}

// Returns utterances as fields, with bands standardised by `statistics`, which are usually those of the training data.
// Throws Error, naming the utterance, if it has too few windows for CTC to spell its symbols.
inline SpeechFields speech_fields(std::span<const Utterance> utterances, const LogMel& log_mel,
                                  const BandStatistics& statistics) {
  constexpr std::size_t context = SpeechWindow::frames, hop = SpeechWindow::hop;
  const std::size_t bands = log_mel.bands;
  require(statistics.mean.size() == bands && statistics.deviation.size() == bands,
          "speech_fields: there are statistics of ", statistics.mean.size(), " bands, the spectrograms have ", bands);
  RaggedAxis frames{"frames", {}}, symbols{"symbols", {}};
  std::vector<float> inputs, lengths;
  std::vector<std::int32_t> labels;
  for (std::size_t u = 0; u < utterances.size(); ++u) {
    std::vector<float> values = detail::spectrogram(utterances, u, log_mel);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>((static_cast<double>(values[i]) - statistics.mean[i % bands]) /
                                     statistics.deviation[i % bands]);
    const std::size_t all = values.size() / bands, windows = all < context ? 0 : (all - context) / hop + 1;
    const std::vector<std::int32_t>& said = utterances[u].symbols;
    std::size_t least = said.size();
    for (std::size_t i = 1; i < said.size(); ++i) least += said[i] == said[i - 1];
    require(windows >= least, "speech_fields: utterance ", u, " has ", windows, " windows of ", context,
            " frames, expected at least ", least, " for its ", said.size(), " symbols");
    for (std::size_t w = 0; w < windows; ++w)
      inputs.insert(inputs.end(), values.begin() + static_cast<std::ptrdiff_t>(w * hop * bands),
                    values.begin() + static_cast<std::ptrdiff_t>((w * hop + context) * bands));
    frames.rows.push_back(static_cast<std::uint32_t>(windows));
    symbols.rows.push_back(static_cast<std::uint32_t>(said.size()));
    labels.insert(labels.end(), said.begin(), said.end());
    lengths.push_back(static_cast<float>(said.size()));
  }
  return SpeechFields({std::move(frames), std::move(symbols)}, {std::move(inputs), {context, bands, 1}, "frames"},
                      {std::move(labels), {1}, "symbols"}, {std::move(lengths), {1}});
}

}  // namespace algoperf
