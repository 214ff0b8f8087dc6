// Any two files, separated in the input by the first zero byte, either load as parallel sentences or are refused with
// an Error. Encoding the decoded words of a sentence gives the same tokens.
#include <algoperf/data/readers/sentence_pairs.hpp>
#include <algoperf/data/readers/vocabulary.hpp>
#include <algorithm>

#include "memory_file.hpp"

namespace ap = algoperf;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  const std::uint8_t* const middle = std::find(bytes, bytes + n, 0);
  const std::size_t first = static_cast<std::size_t>(middle - bytes), second = first < n ? first + 1 : n;
  const MemoryFile source(bytes, first), target(bytes + second, n - second);
  try {
    const ap::SentencePairs pairs = ap::load_sentence_pairs(source.path(), target.path(), 1 << 16);
    if (pairs.size() == 0 || pairs.target.size() != pairs.size()) std::abort();
    for (const auto* sentences : {&pairs.source, &pairs.target}) {
      const ap::Vocabulary words(*sentences);
      for (const std::string& sentence : *sentences) {
        const std::vector<std::int32_t> tokens = words.encode(sentence);
        for (const std::int32_t token : tokens)
          if (token == ap::Vocabulary::unknown || words.token(words.name(token)) != token) {
            if (token != ap::Vocabulary::begin && token != ap::Vocabulary::end) std::abort();
          }
        if (words.encode(words.decode(tokens)) != tokens) std::abort();
      }
    }
  } catch (const ap::Error&) {
  }
  return 0;
}
