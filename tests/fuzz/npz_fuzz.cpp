// Any bytes either load as a .npz or .npy file, which then round-trips through a saved file, or are refused with an
// Error.
#include <algoperf/formats/npy.hpp>
#include <algoperf/formats/npz.hpp>
#include <cstdlib>

#include "memory_file.hpp"

namespace ap = algoperf;

namespace {

void check(const ap::StateDict& dict) {
  const MemoryFile::Named ours;
  ap::save_npz(ours.path(), dict);
  if (ap::load_npz(ours.path()).arrays() != dict.arrays()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  const MemoryFile memory(bytes, n);
  try {
    check(ap::load_npz(memory.path()));
  } catch (const ap::Error&) {
  }
  ap::StateDict dict;
  try {
    ap::detail::read_npy("array", std::string(reinterpret_cast<const char*>(bytes), n), "array", dict);
  } catch (const ap::Error&) {
    return 0;
  }
  check(dict);
  return 0;
}
