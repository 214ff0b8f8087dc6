// Any bytes, plain or gzipped, either load as a tar archive or are refused with an Error; tested as given and with
// corrected checksums.
#include <algoperf/data/readers/tar.hpp>

#include "memory_file.hpp"
#include "tar_checksums.hpp"

namespace {

void read(const std::string& bytes) {
  const MemoryFile file(bytes.data(), bytes.size());
  constexpr std::uint64_t limit = 1 << 20;
  try {
    algoperf::TarFile tar(file.path(), limit);
    std::size_t total = 0;
    for (algoperf::TarEntry entry; tar.next(entry);) total += entry.bytes.size();
    if (total > limit) std::abort();
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
