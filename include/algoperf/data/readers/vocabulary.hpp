// Vocabulary: maps the words of sentences to integer tokens.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../core/error.hpp"

namespace algoperf {

struct VocabularyOptions {
  std::size_t min_count = 1;  // words with fewer occurrences map to `unknown`
};

// Words are separated by white space (blank, tab, LF, CR, vertical tab, form feed) and compared byte for byte: case and
// punctuation are kept. Tokens 0 to 3 are special; the words follow in order of decreasing count, and words of equal
// count in byte order.
class Vocabulary {
 public:
  static constexpr std::int32_t pad = 0, unknown = 1, begin = 2, end = 3, specials = 4;

  explicit Vocabulary(const std::vector<std::string>& sentences, VocabularyOptions options = {}) {
    std::map<std::string_view, std::size_t> counts;
    for (const std::string& sentence : sentences) each_word(sentence, [&](std::string_view word) { ++counts[word]; });
    std::vector<std::pair<std::string_view, std::size_t>> kept;
    for (const auto& [word, count] : counts)
      if (count >= options.min_count) kept.emplace_back(word, count);
    std::stable_sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    require(kept.size() < std::size_t{1} << 31, "Vocabulary: there are ", kept.size(), " words, expected below 2^31");
    counts_.assign(static_cast<std::size_t>(specials), 0);
    names_ = {"<pad>", "<unknown>", "<begin>", "<end>"};
    for (const auto& [word, count] : kept) {
      tokens_.emplace(word, static_cast<std::int32_t>(names_.size()));
      names_.emplace_back(word);
      counts_.push_back(count);
    }
  }

  // Number of tokens, including the four special ones; tokens are [0, size()).
  std::size_t size() const { return names_.size(); }
  // Returns `unknown` for a word not in the vocabulary. No word maps to a special token, not even "<pad>".
  std::int32_t token(std::string_view word) const {
    const auto found = tokens_.find(word);
    return found == tokens_.end() ? unknown : found->second;
  }
  // Throws Error if the token is outside [0, size()).
  const std::string& name(std::int32_t token) const { return names_[checked(token)]; }
  // Returns the number of occurrences of the word; 0 for the special tokens. Throws Error as name() does.
  std::size_t count(std::int32_t token) const { return counts_[checked(token)]; }

  // Returns `begin`, the sentence's words, `end`.
  std::vector<std::int32_t> encode(std::string_view sentence) const {
    std::vector<std::int32_t> tokens{begin};
    each_word(sentence, [&](std::string_view word) { tokens.push_back(token(word)); });
    tokens.push_back(end);
    return tokens;
  }
  // Returns the words separated by blanks, without `begin`, `end` and `pad`.
  std::string decode(const std::vector<std::int32_t>& tokens) const {
    std::string sentence;
    for (const std::int32_t token : tokens) {
      if (token == pad || token == begin || token == end) continue;
      if (!sentence.empty()) sentence += ' ';
      sentence += name(token);
    }
    return sentence;
  }

 private:
  template <class Visit>
  static void each_word(std::string_view sentence, const Visit& visit) {
    constexpr std::string_view white = " \t\n\r\v\f";
    for (std::size_t at = 0; (at = sentence.find_first_not_of(white, at)) != std::string_view::npos;) {
      const std::size_t stop = std::min(sentence.find_first_of(white, at), sentence.size());
      visit(sentence.substr(at, stop - at));
      at = stop;
    }
  }
  std::size_t checked(std::int32_t token) const {
    require(token >= 0 && static_cast<std::size_t>(token) < names_.size(), "Vocabulary: the token is ", token,
            ", expected [0, ", names_.size(), ")");
    return static_cast<std::size_t>(token);
  }

  std::vector<std::string> names_;  // by token
  std::vector<std::size_t> counts_;
  std::map<std::string, std::int32_t, std::less<>> tokens_;
};

}  // namespace algoperf
