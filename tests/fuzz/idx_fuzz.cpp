// Any bytes are an IDX file, plain or gzipped, or refused with a sentence.
#include <algoperf/data/readers/idx.hpp>

#include "memory_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  const MemoryFile file(bytes, n);
  try {
    const algoperf::Idx idx = algoperf::read_idx(file.path());
    std::size_t product = 1;
    for (const std::size_t extent : idx.dims) product *= extent;
    if (idx.bytes.size() != product) std::abort();
  } catch (const algoperf::Error&) {
  }
  return 0;
}
