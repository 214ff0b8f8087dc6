// Any bytes are a tar archive, plain or gzipped, or refused with a sentence. Each header's checksum is made right, or
// nothing would come past it.
#include <algoperf/data/tar.hpp>
#include <cstdio>
#include <cstring>

#include "memory_file.hpp"

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

std::string with_checksums(std::string bytes) {
  constexpr std::size_t block = 512, sum_at = 148;
  for (std::size_t at = 0; at + block <= bytes.size(); at += block) {
    if (bytes.compare(at + 257, 5, "ustar") != 0) continue;
    std::memset(bytes.data() + at + sum_at, ' ', 8);
    unsigned sum = 0;
    for (std::size_t i = at; i < at + block; ++i) sum += static_cast<unsigned char>(bytes[i]);
    char octal[8];
    std::snprintf(octal, sizeof octal, "%06o", sum);
    bytes.replace(at + sum_at, 7, octal, 7);
  }
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  const std::string given(reinterpret_cast<const char*>(bytes), n), mended = with_checksums(given);
  read(given);
  if (mended != given) read(mended);
  return 0;
}
