// TouchTones: synthetic recordings of dialled numbers, for recognisers of speech without a download.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/random.hpp"
#include "../speech_fields.hpp"

namespace algoperf {

// Numbers of 1 to `most` digits as a telephone dials them. A digit is the sum of two sine waves for 60 to 160 ms: one
// has one of four low frequencies, the other one of three high frequencies. Silences of 40 to 120 ms surround each
// digit. White noise is added. Digit d is symbol d + 1. Loudness and noise differ between numbers, phases between
// digits. Number i depends only on first + i, seed, most and noise, up to rounding of sines.
// Source: ITU-T Recommendation Q.23.
struct TouchTones {
  static constexpr std::uint32_t sample_rate = 8000;

  std::uint64_t seed = 1;
  std::uint64_t first = 0;
  std::size_t count = 1000;
  std::size_t most = 5;  // the largest number of digits
  double noise = 0.1;    // the largest standard deviation of the noise; a sine wave has an amplitude of 0.1 to 0.3

  std::vector<Utterance> draw() const {
    require(most > 0 && most <= UINT32_MAX, "TouchTones: most is ", most, ", expected 1 to ", UINT32_MAX);
    require(noise >= 0, "TouchTones: noise is ", noise, ", expected at least 0");
    constexpr std::array<double, 4> low{697, 770, 852, 941};
    constexpr std::array<double, 3> high{1209, 1336, 1477};
    std::vector<Utterance> numbers(count);
    for (std::size_t i = 0; i < count; ++i) {
      RandomStream random(RandomKey{seed}.fold(stream_tag).fold(first + i));
      Utterance& number = numbers[i];
      number.sample_rate = sample_rate;
      const double deviation = noise * random.uniform_double(), amplitude = 0.1 + 0.2 * random.uniform_double();
      const auto add = [&](std::size_t milliseconds, const auto& wave) {
        for (std::size_t t = 0; t < milliseconds * sample_rate / 1000; ++t) {
          const double sample = wave(2 * pi * static_cast<double>(t) / sample_rate) + deviation * random.normal();
          number.samples.push_back(static_cast<float>(sample));
        }
      };
      const auto silence = [&] { add(40 + random.below(81), [](double) { return 0.0; }); };
      silence();
      for (std::size_t left = 1 + random.below(static_cast<std::uint32_t>(most)); left > 0; --left) {
        const std::uint32_t digit = random.below(10);
        // The keys are 1 2 3, 4 5 6, 7 8 9 and * 0 #, by rows.
        const double row = low[digit == 0 ? 3 : (digit - 1) / 3], column = high[digit == 0 ? 1 : (digit - 1) % 3];
        const double phase = 2 * pi * random.uniform_double();
        add(60 + random.below(101),
            [=](double x) { return amplitude * (std::sin(row * x) + std::sin(column * x + phase)); });
        silence();
        number.symbols.push_back(static_cast<std::int32_t>(digit) + 1);
      }
    }
    return numbers;
  }

 private:
  static constexpr double pi = 3.14159265358979323846;
  static constexpr std::uint64_t stream_tag = 0x746F6E6573;  // "tones"
};

}  // namespace algoperf
