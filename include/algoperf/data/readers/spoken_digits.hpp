// Spoken digits: reads recordings of the digits 0 to 9 by several speakers (Jackson et al., the Free Spoken Digit
// Dataset). Link with zlib.
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
  std::string name;  // path within the archive
  std::int32_t digit = 0;
  std::string speaker;
  std::int32_t index = 0;  // among this speaker's recordings of this digit
  std::uint32_t sample_rate = 0;
  std::vector<float> samples;  // one channel, scaled as by load_wav
};

// Test recordings are those with index 0 to 4, the split of the data set's authors. Both parts are sorted by digit,
// speaker and index.
struct SpokenDigits {
  std::vector<SpokenDigit> train, test;
};

namespace detail {

// Parses "7_theo_3", a file name without ".wav"; `place` is the start of the error message.
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

// Reads a tar archive, plain or gzipped, of files <digit>_<speaker>_<index>.wav in any folder. Files without the
// extension .wav and macOS's companion files (._7_theo_3.wav) are skipped. Throws Error as TarFile and wav_from_bytes
// do, and if the name of a .wav file does not match this pattern, a recording has several channels or occurs twice,
// sample rates differ, or there is no recording.
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
            ", expected ", all.empty() ? 0 : all[0].sample_rate, " as in the first recording");
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
            " occurs twice");
  SpokenDigits digits;
  for (SpokenDigit& spoken : all)
    (spoken.index < test_indices ? digits.test : digits.train).push_back(std::move(spoken));
  return digits;
}

}  // namespace algoperf
