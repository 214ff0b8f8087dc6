// WAV: reads audio from a RIFF WAVE file (IBM and Microsoft 1991, Multimedia Programming Interface and Data
// Specifications 1.0; WAVE_FORMAT_EXTENSIBLE: mmreg.h): integers of 8, 16, 24 or 32 bits, or 32-bit floats, in any
// number of channels.
//
// A file is "RIFF", its size, "WAVE", then chunks: a four-letter id, a 32-bit size, that many bytes and, if the size is
// odd, one padding byte. All numbers are little-endian.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/error.hpp"
#include "../../state/read_file.hpp"
#include "in_quotes.hpp"

namespace algoperf {

struct Wav {
  std::uint32_t sample_rate = 0;  // frames per second
  std::size_t channels = 1;
  std::vector<float> samples;  // frames x channels

  std::size_t frames() const { return samples.size() / channels; }
};

namespace detail {

// Parses a WAVE file in memory. Throws Error with the file and the byte offset; reads nothing outside `bytes`.
class WavParser {
 public:
  WavParser(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  Wav parse() {
    constexpr std::size_t header = 12, chunk_header = 8;
    require(bytes_.size() >= header, name_, ": has ", bytes_.size(), " bytes, expected at least ", header,
            " for a RIFF header");
    expect(0, "RIFF");
    expect(8, "WAVE");
    const std::size_t end = chunk_header + u32(4);
    require(end <= bytes_.size(), name_, ": the RIFF header declares ", end, " bytes, but the file has ",
            bytes_.size());
    for (std::size_t at = header; at < end;) {
      require(end - at >= chunk_header, name_, ": the RIFF chunk ends at byte ", end,
              ", within the header of a chunk from byte ", at);
      const std::string_view id = bytes_.substr(at, 4);
      const std::size_t size = u32(at + 4), start = at + chunk_header;
      require(size <= end - start, name_, ": the chunk ", in_quotes(id), " at byte ", at, " declares ", size,
              " bytes, but has ", end - start);
      if (id == "fmt ") read_format(start, size);
      if (id == "data") return read_samples(start, size);
      at = start + size + size % 2;
    }
    fail(name_, ": there is no chunk ", in_quotes("data"));
  }

 private:
  static constexpr std::uint32_t whole_numbers = 1, floats = 3, extensible = 0xFFFE;

  void expect(std::size_t at, std::string_view letters) const {
    require(bytes_.substr(at, 4) == letters, name_, ": the bytes from ", at, " are ", in_quotes(bytes_.substr(at, 4)),
            ", expected ", in_quotes(letters));
  }
  std::uint32_t u8(std::size_t at) const { return static_cast<unsigned char>(bytes_[at]); }
  std::uint32_t u16(std::size_t at) const { return u8(at) | u8(at + 1) << 8; }
  std::uint32_t u32(std::size_t at) const { return u16(at) | u16(at + 2) << 16; }

  void read_format(std::size_t at, std::size_t size) {
    constexpr std::size_t plain = 16, extended = 40;
    require(size >= plain, name_, ": the chunk ", in_quotes("fmt "), " from byte ", at, " has ", size,
            " bytes, expected at least ", plain);
    format_ = u16(at);
    channels_ = u16(at + 2);
    rate_ = u32(at + 4);
    bits_ = u16(at + 14);
    if (format_ == extensible) {
      require(size >= extended, name_, ": the chunk ", in_quotes("fmt "), " from byte ", at, " has ", size,
              " bytes, expected at least ", extended, " for the extensible format");
      constexpr std::string_view rest_of_guid("\0\0\0\0\x10\0\x80\0\0\xAA\0\x38\x9B\x71", 14);
      require(bytes_.substr(at + 26, 14) == rest_of_guid, name_, ": the subformat at byte ", at + 24,
              " is neither integers nor floats");
      format_ = u16(at + 24);
    }
    const bool known = (format_ == whole_numbers && (bits_ == 8 || bits_ == 16 || bits_ == 24 || bits_ == 32)) ||
                       (format_ == floats && bits_ == 32);
    require(known, name_, ": the format at byte ", at, " is ", format_, " with ", bits_,
            " bits, expected 1 (integers) with 8, 16, 24 or 32, or 3 (floats) with 32");
    require(channels_ > 0, name_, ": there are 0 channels at byte ", at + 2, ", expected at least 1");
    require(rate_ > 0, name_, ": the sample rate at byte ", at + 4, " is 0, expected at least 1");
    require(u16(at + 12) == channels_ * bits_ / 8, name_, ": a frame has ", u16(at + 12), " bytes according to byte ",
            at + 12, ", expected ", channels_ * bits_ / 8, " for ", channels_, " channels of ", bits_, " bits");
  }

  Wav read_samples(std::size_t at, std::size_t size) const {
    require(bits_ > 0, name_, ": the chunk ", in_quotes("data"), " at byte ", at - 8, " precedes any chunk ",
            in_quotes("fmt "));
    const std::size_t width = bits_ / 8, frame = width * channels_;
    require(size % frame == 0, name_, ": the chunk ", in_quotes("data"), " has ", size,
            " bytes, expected a multiple of the frame size, ", frame, " bytes");
    Wav wav{rate_, channels_, std::vector<float>(size / width)};
    for (std::size_t i = 0; i < wav.samples.size(); ++i) wav.samples[i] = sample(at + i * width);
    return wav;
  }

  float sample(std::size_t at) const {
    if (format_ == floats) {
      const float value = std::bit_cast<float>(u32(at));
      require(std::isfinite(value), name_, ": the sample at byte ", at, " is not finite");
      return value;
    }
    if (bits_ == 8) return (static_cast<float>(u8(at)) - 128) / 128;  // 8-bit samples are unsigned
    // Narrower samples are shifted into the upper bits of a 32-bit integer.
    const std::uint32_t upper = bits_ == 16 ? u16(at) << 16 : bits_ == 24 ? u16(at) << 8 | u8(at + 2) << 24 : u32(at);
    const float value = static_cast<float>(std::bit_cast<std::int32_t>(upper)) / 0x1p31f;
    constexpr float largest = 0x1.fffffep-1f;  // 32-bit samples near 1 would round to 1
    return value < largest ? value : largest;
  }

  std::string_view bytes_;
  const std::string& name_;
  std::uint32_t format_ = 0, channels_ = 0, rate_ = 0, bits_ = 0;
};

}  // namespace detail

// Parses the bytes of a WAVE file; `name` stands for the file in error messages. An integer n of b bits becomes
// n / 2^(b-1), in [-1, 1); 8-bit integers are stored with 128 added. Floats are returned as stored and must be finite.
// Chunks other than fmt and data are skipped; bytes after the data chunk or the RIFF chunk are ignored. Throws Error
// with the byte offset if a chunk is longer than the file, the sample format is not one listed above, or the data
// are not a whole number of frames. Memory use is bounded by the bytes present, not by the sizes declared.
inline Wav wav_from_bytes(std::string_view bytes, const std::string& name = "Wav") {
  return detail::WavParser(bytes, name).parse();
}

// Reads a file and parses it as above.
inline Wav load_wav(const std::string& path) { return wav_from_bytes(read_file(path), path); }

}  // namespace algoperf
