// ReversedSentences: synthetic pairs of sentences, for models that translate, without a download.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/random.hpp"
#include "../translation_fields.hpp"

namespace algoperf {

// Sentences of 1 to `longest` words, uniform over the `words` words of a language. Their translations are the
// corresponding words of another language, in reverse order. Token 4 + w is word w of the source language. Token
// 4 + words + p(w) is its translation, where p is a random permutation. Pair i depends only on first + i, seed, words
// and longest.
struct ReversedSentences {
  std::uint64_t seed = 1;
  std::uint64_t first = 0;
  std::size_t count = 1000;
  std::size_t words = 40, longest = 8;

  std::size_t vocabulary() const { return 4 + 2 * words; }
  TranslationFields draw() const {
    require(words > 0 && words < 1u << 30 && longest > 0 && longest <= UINT32_MAX, "ReversedSentences: words is ",
            words, " and longest ", longest, ", expected at least 1, and words below 2^30");
    std::vector<std::int32_t> translated(words);
    for (std::size_t w = 0; w < words; ++w) translated[w] = static_cast<std::int32_t>(4 + words + w);
    RandomStream shuffling(RandomKey{seed}.fold(stream_tag));
    for (std::size_t w = words; w > 1; --w)
      std::swap(translated[w - 1], translated[shuffling.below(static_cast<std::uint32_t>(w))]);
    RaggedAxis sources{"source", {}}, targets{"target", {}};
    std::vector<std::int32_t> source, input, label;
    for (std::size_t i = 0; i < count; ++i) {
      RandomStream random(RandomKey{seed}.fold(stream_tag + 1).fold(first + i));
      const std::size_t length = 1 + random.below(static_cast<std::uint32_t>(longest)), begin = source.size();
      for (std::size_t t = 0; t < length; ++t)
        source.push_back(static_cast<std::int32_t>(4 + random.below(static_cast<std::uint32_t>(words))));
      input.push_back(Subwords::begin);
      for (std::size_t t = length; t > 0; --t) {
        const std::int32_t word = translated[static_cast<std::size_t>(source[begin + t - 1] - 4)];
        input.push_back(word);
        label.push_back(word);
      }
      source.push_back(Subwords::end);
      label.push_back(Subwords::end);
      sources.rows.push_back(static_cast<std::uint32_t>(length + 1));
      targets.rows.push_back(static_cast<std::uint32_t>(length + 1));
    }
    return TranslationFields({std::move(sources), std::move(targets)}, {std::move(source), {1}, "source"},
                             {std::move(input), {1}, "target"}, {std::move(label), {1}, "target"});
  }
  // Returns the tokens as numbers (token - 4), separated by spaces. Leaves out special tokens, which are below 4.
  std::string decode(std::span<const std::int32_t> tokens) const {
    std::string text;
    for (const std::int32_t token : tokens)
      if (token >= 4) text += (text.empty() ? "" : " ") + std::to_string(token - 4);
    return text;
  }

 private:
  static constexpr std::uint64_t stream_tag = 0x7265766572736564;  // "reversed"
};

}  // namespace algoperf
