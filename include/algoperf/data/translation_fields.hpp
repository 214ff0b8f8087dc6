// Pairs of sentences as fields, for models that translate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "in_memory_fields.hpp"
#include "subwords.hpp"

namespace algoperf {

// A data set of sentence pairs with three fields of tokens:
//   "source"   s_1 ... s_m, end     on the ragged axis "source"
//   "input"    begin, t_1 ... t_n   on the ragged axis "target"
//   "label"    t_1 ... t_n, end     on the ragged axis "target"
using TranslationFields =
    InMemoryFields<Field<"source", std::int32_t>, Field<"input", std::int32_t>, Field<"label", std::int32_t>>;

// Returns the tokens that the field "source" holds for a sentence: its subwords, then `end`.
inline std::vector<std::int32_t> source_tokens(const Subwords& subwords, std::string_view sentence) {
  std::vector<std::int32_t> tokens = subwords.encode(sentence);
  tokens.push_back(Subwords::end);
  return tokens;
}

// Returns the pairs source[i], target[i] as tokens. Throws Error unless there are as many sources as targets.
inline TranslationFields translation_fields(const std::vector<std::string>& source,
                                            const std::vector<std::string>& target, const Subwords& subwords) {
  require(source.size() == target.size(), "translation_fields: there are ", source.size(), " sources and ",
          target.size(), " targets, expected the same number");
  RaggedAxis sources{"source", {}}, targets{"target", {}};
  std::vector<std::int32_t> from, inputs, labels;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::vector<std::int32_t> a = source_tokens(subwords, source[i]), b = subwords.encode(target[i]);
    sources.rows.push_back(static_cast<std::uint32_t>(a.size()));
    targets.rows.push_back(static_cast<std::uint32_t>(b.size() + 1));
    from.insert(from.end(), a.begin(), a.end());
    inputs.push_back(Subwords::begin);
    inputs.insert(inputs.end(), b.begin(), b.end());
    labels.insert(labels.end(), b.begin(), b.end());
    labels.push_back(Subwords::end);
  }
  return TranslationFields({std::move(sources), std::move(targets)}, {std::move(from), {1}, "source"},
                           {std::move(inputs), {1}, "target"}, {std::move(labels), {1}, "target"});
}

}  // namespace algoperf
