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

// Returns `count` utterances of 1 to `most` digits each, drawn at random: recordings of one speaker, one after another.
// Digit d is symbol d + 1. Utterance i depends on the recordings, `key` and i alone.
inline std::vector<Utterance> strings_of_digits(const std::vector<SpokenDigit>& recordings, std::size_t count,
                                                std::size_t most, RandomKey key) {
  require(!recordings.empty(), "strings_of_digits: there are no recordings");
  require(most > 0, "strings_of_digits: `most` is 0, expected at least 1");
  std::vector<Utterance> utterances(count);
  for (std::size_t i = 0; i < count; ++i) {
    RandomStream random(key.fold(i));
    const auto draw = [&random](std::size_t n) { return random.below(static_cast<std::uint32_t>(n)); };
    const std::string& speaker = recordings[draw(recordings.size())].speaker;
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
