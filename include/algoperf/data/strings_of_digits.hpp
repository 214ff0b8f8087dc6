#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../core/error.hpp"
#include "../core/random.hpp"
#include "readers/spoken_digits.hpp"
#include "speech_fields.hpp"

namespace algoperf {

// Returns `count` utterances of connected digits, drawn at random. Each joins 1 to `most` recordings of one speaker,
// whose probability is their share of the recordings. Digit d is symbol d + 1. Utterance i depends on i, `key`, `most`
// and the recordings alone.
inline std::vector<Utterance> strings_of_digits(const std::vector<SpokenDigit>& recordings, std::size_t count,
                                                std::size_t most, RandomKey key) {
  require(!recordings.empty(), "strings_of_digits: there are no recordings");
  require(most > 0 && most <= 1 << 20, "strings_of_digits: `most` is ", most, ", expected 1 to 2^20");
  std::vector<Utterance> utterances(count);
  for (std::size_t i = 0; i < count; ++i) {
    RandomStream random(key.fold(i));
    const auto draw = [&random](std::size_t n) { return random.below(static_cast<std::uint32_t>(n)); };
    const SpokenDigit& first = recordings[draw(recordings.size())];
    const std::string& speaker = first.speaker;
    utterances[i].sample_rate = first.sample_rate;
    std::vector<const SpokenDigit*> of_speaker;
    for (const SpokenDigit& each : recordings)
      if (each.speaker == speaker) of_speaker.push_back(&each);
    for (std::size_t left = 1 + draw(most); left > 0; --left) {
      const SpokenDigit& spoken = *of_speaker[draw(of_speaker.size())];
      utterances[i].samples.insert(utterances[i].samples.end(), spoken.samples.begin(), spoken.samples.end());
      utterances[i].symbols.push_back(spoken.digit + 1);
    }
  }
  return utterances;
}

}  // namespace algoperf
