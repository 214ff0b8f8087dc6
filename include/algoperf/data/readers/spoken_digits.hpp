// Spoken digits: recordings of the digits 0 to 9 by several speakers (Jackson et al., the Free Spoken Digit Dataset).
// Link with zlib.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "in_quotes.hpp"
#include "tar.hpp"
#include "wav.hpp"

namespace algoperf {

struct SpokenDigit {
  std::string name;  // in the archive
  std::int32_t digit = 0;
  std::string speaker;
  std::int32_t index = 0;  // among this speaker's recordings of this digit
  std::uint32_t sample_rate = 0;
  std::vector<float> samples;  // one channel, as load_wav has them
};

// Test recordings are those with index 0 to 4, as its authors split them. Both are sorted by digit, speaker and index.
struct SpokenDigits {
  std::vector<SpokenDigit> train, test;
};

namespace detail {

// Reads "7_theo_3" (what stands before .wav), or throws Error naming the place.
inline SpokenDigit spoken_digit_of(std::string_view stem, const std::string& place) {
  SpokenDigit result;
  const std::size_t first = stem.find('_'), last = stem.rfind('_');
  const bool parted = first == 1 && last > first + 1 && last != std::string_view::npos;
  const std::string_view index = parted ? stem.substr(last + 1) : std::string_view();
  const auto [end, error] = std::from_chars(index.data(), index.data() + index.size(), result.index);
  require(parted && stem[0] >= '0' && stem[0] <= '9' && error == std::errc{} && end == index.data() + index.size() &&
              result.index >= 0,
          place, ": expected a name like 7_theo_3.wav: digit, speaker, index");
  result.digit = stem[0] - '0';
  result.speaker = stem.substr(first + 1, last - first - 1);
  return result;
}

inline auto order_of(const SpokenDigit& s) { return std::tie(s.digit, s.speaker, s.index); }

}  // namespace detail

// Reads a tar archive, plain or gzipped, of files <digit>_<speaker>_<index>.wav in any folder; other files than .wav,
// and macOS's shadows of them (._7_theo_3.wav), are passed over. Throws Error as TarFile and wav_from_bytes do, and at
// a .wav named otherwise, of several channels, or that is there twice; if there is none; and if sample rates differ.
inline SpokenDigits load_spoken_digits(const std::string& path, std::uint64_t limit = GzFile::default_limit) {
  constexpr std::int32_t test_indices = 5;
  TarFile tar(path, limit);
  std::vector<SpokenDigit> all;
  for (TarEntry entry; tar.next(entry);) {
    const std::string_view name(entry.name);
    const std::size_t slash = name.rfind('/'), begin = slash == std::string_view::npos ? 0 : slash + 1;
    if (!name.ends_with(".wav") || name.substr(begin).starts_with("._")) continue;
    const std::string place = tar.path() + ": " + detail::in_quotes(name);
    SpokenDigit spoken = detail::spoken_digit_of(name.substr(begin, name.size() - begin - 4), place);
    Wav wav = wav_from_bytes(entry.bytes, place);
    require(wav.channels == 1, place, ": has ", wav.channels, " channels, expected 1");
    require(all.empty() || all[0].sample_rate == wav.sample_rate, place, ": has the sample rate ", wav.sample_rate,
            ", expected ", all.empty() ? 0 : all[0].sample_rate, " as the first");
    spoken.name = std::move(entry.name);
    spoken.sample_rate = wav.sample_rate;
    spoken.samples = std::move(wav.samples);
    all.push_back(std::move(spoken));
  }
  require(!all.empty(), tar.path(), ": has no .wav file");
  std::sort(all.begin(), all.end(),
            [](const SpokenDigit& a, const SpokenDigit& b) { return detail::order_of(a) < detail::order_of(b); });
  for (std::size_t i = 1; i < all.size(); ++i)
    require(detail::order_of(all[i - 1]) != detail::order_of(all[i]), tar.path(), ": ", detail::in_quotes(all[i].name),
            " is there twice");
  SpokenDigits digits;
  for (SpokenDigit& spoken : all)
    (spoken.index < test_indices ? digits.test : digits.train).push_back(std::move(spoken));
  return digits;
}

}  // namespace algoperf
