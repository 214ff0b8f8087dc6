// Any bytes either load as a text with a context of a few characters or are refused with an Error. A text that loads
// decodes to the same bytes.
#include <algoperf/data/readers/text.hpp>
#include <cstdlib>
#include <vector>

#include "memory_file.hpp"

namespace ap = algoperf;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  const MemoryFile memory(bytes, n);
  try {
    const ap::Text text = ap::Text::load(memory.path(), {.context = 3});
    for (std::size_t i = 0; i < n; ++i)
      if (text.vocabulary()[text.tokens()[i]] != static_cast<char>(bytes[i])) std::abort();
    for (std::uint32_t i = 0; i < text.size(); ++i) {
      std::int32_t inputs[3], label;
      text.gather(&i, 1, inputs, &label);
      for (const std::int32_t token : inputs)
        if (token < 0 || static_cast<std::size_t>(token) >= text.classes()) std::abort();
      if (label < 0 || static_cast<std::size_t>(label) >= text.classes()) std::abort();
    }
  } catch (const ap::Error&) {
  }
  return 0;
}
