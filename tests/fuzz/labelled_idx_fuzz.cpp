// Any two files, plain or gzipped, either load as IDX images and labels or are refused with an Error. The first two
// bytes of the input give the number of following bytes that are the images.
#include <algoperf/data/readers/idx.hpp>
#include <algorithm>

#include "memory_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  if (n < 2) return 0;
  constexpr std::int32_t classes = 10;
  const std::size_t first = std::min<std::size_t>(n - 2, bytes[0] + 256u * bytes[1]);
  const MemoryFile images(bytes + 2, first), labels(bytes + 2 + first, n - 2 - first);
  try {
    const algoperf::InMemory<float> data = algoperf::load_idx(images.path(), labels.path(), classes, 1 << 16);
    if (data.labels().size() != data.size() || data.shape().rank != 3 || data.shape()[2] != 1) std::abort();
    if (data.size() > 0 && data.inputs().size() / data.size() != data.shape().size()) std::abort();
    for (const std::int32_t label : data.labels())
      if (label < 0 || label >= classes) std::abort();
    for (const float pixel : data.inputs())
      if (!(pixel >= 0 && pixel <= 1)) std::abort();
  } catch (const algoperf::Error&) {
  }
  return 0;
}
