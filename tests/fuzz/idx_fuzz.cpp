// Any bytes, plain or gzipped, either load as an IDX file or are refused with an Error.
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
