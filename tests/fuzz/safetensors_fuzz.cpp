// Any bytes either load as a safetensors file, which then round-trips through a saved file, or are refused with an
// Error.
#include <algoperf/formats/safetensors.hpp>
#include <cstdlib>

#include "memory_file.hpp"

namespace ap = algoperf;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  // The first two bytes give the header's size, because eight random bytes are rarely a valid size.
  std::string file(8, '\0');
  if (n >= 2) file.replace(0, 2, reinterpret_cast<const char*>(bytes), 2);
  if (n >= 2) file.append(reinterpret_cast<const char*>(bytes) + 2, n - 2);
  const MemoryFile memory(file.data(), file.size());
  ap::Metadata metadata, again_metadata;
  ap::StateDict dict;
  try {
    dict = ap::load_safetensors(memory.path(), &metadata);
  } catch (const ap::Error&) {
    return 0;
  }
  const MemoryFile::Named ours;
  ap::save_safetensors(ours.path(), dict, metadata);
  const ap::StateDict again = ap::load_safetensors(ours.path(), &again_metadata);
  if (again.arrays().size() != dict.arrays().size() || again_metadata != metadata) std::abort();
  for (const ap::StateDict::Array& array : dict.arrays())
    if (!(again.at(array.name) == array)) std::abort();
  return 0;
}
