#include "algoperf/data/readers/wav.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "files.hpp"

namespace ap = algoperf;
using Samples = std::vector<float>;
using namespace std::string_literals;

namespace {

std::string u16(std::uint32_t n) { return {static_cast<char>(n), static_cast<char>(n >> 8)}; }
std::string u32(std::uint32_t n) { return u16(n & 0xFFFF) + u16(n >> 16); }
std::string chunk(const std::string& id, const std::string& bytes) {
  return id + u32(static_cast<std::uint32_t>(bytes.size())) + bytes + std::string(bytes.size() % 2, '\0');
}
std::string format(std::uint32_t tag, std::uint32_t channels, std::uint32_t bits, std::uint32_t rate = 8000) {
  return u16(tag) + u16(channels) + u32(rate) + u32(rate * channels * bits / 8) + u16(channels * bits / 8) + u16(bits);
}
std::string riff(const std::string& chunks) { return chunk("RIFF", "WAVE" + chunks); }
std::string wav(std::uint32_t tag, std::uint32_t channels, std::uint32_t bits, const std::string& samples) {
  return riff(chunk("fmt ", format(tag, channels, bits)) + chunk("data", samples));
}
Samples samples(const std::string& bytes) { return ap::wav_from_bytes(bytes).samples; }
std::string error(const std::string& bytes) {
  return sentence([&] { ap::wav_from_bytes(bytes, "f"); });
}

const std::string guid_rest("\0\0\0\0\x10\0\x80\0\0\xAA\0\x38\x9B\x71", 14);

}  // namespace

TEST_CASE("integers of 8, 16, 24 and 32 bits are scaled to [-1, 1)") {
  CHECK(samples(wav(1, 1, 8, "\x00\x80\xFF\x40"s)) == Samples{-1, 0, 127.0f / 128, -0.5f});
  CHECK(samples(wav(1, 1, 16, u16(0x8000) + u16(0x7FFF) + u16(0xFFFF) + u16(0))) ==
        Samples{-1, 32767.0f / 32768, -1.0f / 32768, 0});
  CHECK(samples(wav(1, 1, 24, "\x00\x00\x80\xFF\xFF\x7F\xFF\xFF\xFF\x00\x00\x40"s)) ==
        Samples{-1, 8388607.0f / 8388608, -1.0f / 8388608, 0.5f});
  CHECK(samples(wav(1, 1, 32, u32(0x80000000) + u32(0x7FFFFFFF) + u32(0xFFFFFFFF) + u32(0x20000000))) ==
        Samples{-1, std::nextafter(1.0f, 0.0f), -0x1p-31f, 0.25f});
}

TEST_CASE("floats are read as stored, with channels interleaved") {
  const ap::Wav stereo =
      ap::wav_from_bytes(wav(3, 2, 32, u32(0x3F000000) + u32(0xC0000000) + u32(0) + u32(0x3E800000)));
  CHECK(stereo.sample_rate == 8000);
  CHECK(stereo.channels == 2);
  CHECK(stereo.frames() == 2);
  CHECK(stereo.samples == Samples{0.5f, -2.0f, 0.0f, 0.25f});
  CHECK(samples(wav(1, 1, 16, "")).empty());
}

TEST_CASE("the extensible format is equivalent to the plain one") {
  const std::string fmt = format(0xFFFE, 1, 16) + u16(22) + u16(16) + u32(4);
  CHECK(samples(riff(chunk("fmt ", fmt + u16(1) + guid_rest) + chunk("data", u16(0x4000)))) == Samples{0.5f});
  CHECK(error(riff(chunk("fmt ", fmt) + chunk("data", ""))) ==
        "f: the chunk \"fmt \" from byte 20 has 24 bytes, expected at least 40 for the extensible format");
  CHECK(error(riff(chunk("fmt ", fmt + u16(1) + std::string(14, 'x')) + chunk("data", ""))) ==
        "f: the subformat at byte 44 is neither integers nor floats");
  CHECK(error(riff(chunk("fmt ", fmt + u16(6) + guid_rest) + chunk("data", ""))) ==
        "f: the format at byte 20 is 6 with 16 bits, expected 1 (integers) with 8, 16, 24 or 32, or 3 (floats) "
        "with 32");
}

TEST_CASE("other chunks are skipped, odd ones with their padding; later bytes are ignored") {
  const std::string fmt = chunk("fmt ", format(1, 1, 8) + u16(0)), data = chunk("data", "\xC0"s);
  CHECK(samples(riff(chunk("LIST", "odd") + fmt + chunk("fact", "1234") + data)) == Samples{0.5f});
  CHECK(samples(riff(fmt + data + "junk")) == Samples{0.5f});
  CHECK(samples(riff(fmt + data) + "more") == Samples{0.5f});
  // The padding byte after an odd last chunk may be missing.
  const std::string whole = riff(fmt + data), cut = whole.substr(0, whole.size() - 1);
  CHECK(samples("RIFF" + u32(static_cast<std::uint32_t>(cut.size() - 8)) + cut.substr(8)) == Samples{0.5f});
}

TEST_CASE("an invalid WAVE file is refused with the byte offset") {
  const std::string fmt = chunk("fmt ", format(1, 1, 16));
  CHECK(error("RIFF") == "f: has 4 bytes, expected at least 12 for a RIFF header");
  CHECK(error("RIFX1234WAVE") == "f: the bytes from 0 are \"RIFX\", expected \"RIFF\"");
  CHECK(error("RIFF" + u32(4) + "AVI ") == "f: the bytes from 8 are \"AVI \", expected \"WAVE\"");
  CHECK(error("RIFF" + u32(0xFFFFFFFF) + "WAVE") ==
        "f: the RIFF header declares 4294967303 bytes, but the file has 12");
  CHECK(error(riff("")) == "f: there is no chunk \"data\"");
  CHECK(error(riff(fmt)) == "f: there is no chunk \"data\"");
  CHECK(error(riff("data")) == "f: the RIFF chunk ends at byte 16, within the header of a chunk from byte 12");
  CHECK(error(riff(fmt + "data" + u32(0xFFFFFFFF) + "ab")) ==
        "f: the chunk \"data\" at byte 36 declares 4294967295 bytes, but has 2");
  CHECK(error(riff(chunk("data", "ab") + fmt)) == "f: the chunk \"data\" at byte 12 precedes any chunk \"fmt \"");
  CHECK(error(riff(fmt + chunk("data", "abc"))) ==
        "f: the chunk \"data\" has 3 bytes, expected a multiple of the frame size, 2 bytes");
  CHECK(error(riff(chunk("fmt ", "0123456789abcd"))) ==
        "f: the chunk \"fmt \" from byte 20 has 14 bytes, expected at least 16");
  for (const auto& [tag, bits] : {std::pair{1u, 12u}, {3u, 64u}, {3u, 16u}, {2u, 16u}, {1u, 0u}})
    CHECK(error(wav(tag, 1, bits, "")) ==
          "f: the format at byte 20 is " + std::to_string(tag) + " with " + std::to_string(bits) +
              " bits, expected 1 (integers) with 8, 16, 24 or 32, or 3 (floats) with 32");
  CHECK(error(wav(1, 0, 16, "")) == "f: there are 0 channels at byte 22, expected at least 1");
  CHECK(error(riff(chunk("fmt ", format(1, 1, 16, 0)))) == "f: the sample rate at byte 24 is 0, expected at least 1");
  CHECK(error(riff(chunk("fmt ", format(1, 2, 16).substr(0, 12) + u16(2) + u16(16)))) ==
        "f: a frame has 2 bytes according to byte 32, expected 4 for 2 channels of 16 bits");
  CHECK(error(wav(3, 1, 32, u32(0) + u32(0x7FC00000))) == "f: the sample at byte 48 is not finite");
  CHECK(error(wav(3, 1, 32, u32(0xFF800000))) == "f: the sample at byte 44 is not finite");
}

TEST_CASE("load_wav reads a file") {
  const Folder folder;
  CHECK(ap::load_wav(folder.write("f.wav", wav(1, 1, 16, u16(0x4000)))).samples == Samples{0.5f});
  const std::string none = folder / "none";
  CHECK(sentence([&] { ap::load_wav(none); }) == none + ": cannot be opened: No such file or directory");
}
