// Any bytes either load as an archive of spoken digits or are refused with an Error; tested as given and with corrected
// tar checksums.
#include <algoperf/data/readers/spoken_digits.hpp>
#include <cmath>

#include "memory_file.hpp"
#include "tar_checksums.hpp"

namespace {

void read(const std::string& bytes) {
  const MemoryFile file(bytes.data(), bytes.size());
  try {
    const algoperf::SpokenDigits digits = algoperf::load_spoken_digits(file.path(), 1 << 20);
    if (digits.train.empty() && digits.test.empty()) std::abort();
    for (const auto* part : {&digits.train, &digits.test})
      for (const algoperf::SpokenDigit& spoken : *part) {
        if (spoken.digit < 0 || spoken.digit > 9 || spoken.speaker.empty() || spoken.sample_rate == 0) std::abort();
        if ((spoken.index < 5) != (part == &digits.test)) std::abort();
        for (const float sample : spoken.samples)
          if (!std::isfinite(sample)) std::abort();
      }
  } catch (const algoperf::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  const std::string given(reinterpret_cast<const char*>(bytes), n), mended = with_checksums(given);
  read(given);
  if (mended != given) read(mended);
  return 0;
}
