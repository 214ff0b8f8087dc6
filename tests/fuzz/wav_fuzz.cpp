// Any bytes either load as a WAVE file or are refused with an Error.
#include <algoperf/data/readers/wav.hpp>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  try {
    const algoperf::Wav wav =
        algoperf::wav_from_bytes(std::string_view(reinterpret_cast<const char*>(bytes), n), "fuzz");
    if (wav.channels == 0 || wav.sample_rate == 0 || wav.samples.size() > n) std::abort();
    if (wav.frames() * wav.channels != wav.samples.size()) std::abort();
  } catch (const algoperf::Error&) {
  }
  return 0;
}
