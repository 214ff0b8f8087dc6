// Subwords: a vocabulary of parts of words, learned from sentences by byte pair encoding.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <queue>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "shared.hpp"

namespace algoperf {

// The constructor makes each character (UTF-8 code point) of the sentences a token. It then merges the most frequent
// pair of adjacent tokens within words into a new token, and repeats this until there are `size` tokens or no pair is
// left. White space separates words. Each word starts with the mark U+2581, which replaces the space before it; the
// first word has the mark, too.
// Tokens 0 to 3 are special, as in Vocabulary; the characters follow in the order of their code points, then merged
// tokens in the order of the merges. Ties go to the pair with the smaller first token, then with the smaller second
// token.
// Source: Sennrich et al. 2016, arXiv:1508.07909, algorithm 1; the mark is SentencePiece's (Kudo & Richardson 2018,
// arXiv:1808.06226). Gives the tokens of Hugging Face's BpeTrainer with a Metaspace pre-tokenizer for
//   sentences with single spaces.
// Copies share their tables.
class Subwords {
 public:
  static constexpr std::int32_t pad = 0, unknown = 1, begin = 2, end = 3, specials = 4;

  // Throws Error if `size` is less than four plus the number of distinct characters, or at least 2^31.
  Subwords(const std::vector<std::string>& sentences, std::size_t size) : tables_(learned(sentences, size)) {}

  // Number of tokens, including the four special ones; tokens are [0, size()).
  std::size_t size() const { return tables_->names.size(); }
  // Throws Error if the token is outside [0, size()).
  const std::string& name(std::int32_t token) const {
    require(token >= 0 && static_cast<std::size_t>(token) < size(), "Subwords: the token is ", token, ", expected [0, ",
            size(), ")");
    return tables_->names[static_cast<std::size_t>(token)];
  }
  // Returns the tokens of a sentence, without `begin` and `end`. A character that is not in the vocabulary becomes
  // `unknown`.
  std::vector<std::int32_t> encode(std::string_view sentence) const;
  // Returns the sentence, with one space between words, without `pad`, `begin` and `end`.
  std::string decode(std::span<const std::int32_t> tokens) const;

 private:
  using Tokens = std::vector<std::int32_t>;
  using Pair = std::pair<std::int32_t, std::int32_t>;
  struct Merge {
    std::size_t rank;
    std::int32_t token;
  };
  struct Tables {
    std::vector<std::string> names;  // by token
    std::unordered_map<std::string, std::int32_t> tokens;
    std::map<Pair, Merge> merges;
    std::unordered_map<std::string, Tokens> words;  // of the sentences
  };
  static constexpr std::string_view mark = "\u2581";

  // Calls visit(word) for each word, with its mark.
  template <class Visit>
  static void each_word(std::string_view sentence, const Visit& visit);
  // Calls visit(character) for each code point, or byte that belongs to none.
  template <class Visit>
  static void each_character(std::string_view text, const Visit& visit);
  static void merge(Tokens& tokens, Pair pair, std::int32_t into);
  static Tables learned(const std::vector<std::string>& sentences, std::size_t size);
  // Adds merges until there are `size` tokens. counts[i] is how often words[i] occurs.
  static void learn_merges(Tables& tables, std::vector<Tokens> words, const std::vector<std::int64_t>& counts,
                           std::size_t size);
  // Returns the tokens of a word with its mark.
  static Tokens tokens_of(const Tables& tables, const std::string& word);

  Shared<Tables> tables_;
};

template <class Visit>
void Subwords::each_word(std::string_view sentence, const Visit& visit) {
  constexpr std::string_view white = " \t\n\r\v\f";
  for (std::size_t at = 0; (at = sentence.find_first_not_of(white, at)) != std::string_view::npos;) {
    const std::size_t stop = std::min(sentence.find_first_of(white, at), sentence.size());
    visit(std::string(mark).append(sentence.substr(at, stop - at)));
    at = stop;
  }
}

template <class Visit>
void Subwords::each_character(std::string_view text, const Visit& visit) {
  const auto continues = [&](std::size_t i) { return (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80; };
  for (std::size_t i = 0, next; i < text.size(); i = next) {
    const auto first = static_cast<unsigned char>(text[i]);
    const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
    for (next = i + 1; next < text.size() && next < i + length && continues(next);) ++next;
    visit(std::string(text.substr(i, next - i)));
  }
}

inline void Subwords::merge(Tokens& tokens, Pair pair, std::int32_t into) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i, ++kept)
    if (i + 1 < tokens.size() && Pair(tokens[i], tokens[i + 1]) == pair)
      tokens[kept] = into, ++i;
    else
      tokens[kept] = tokens[i];
  tokens.resize(kept);
}

inline Subwords::Tables Subwords::learned(const std::vector<std::string>& sentences, std::size_t size) {
  std::map<std::string, std::int64_t> counts;
  for (const std::string& sentence : sentences) each_word(sentence, [&](const std::string& word) { ++counts[word]; });
  std::set<std::string> characters;  // in the order of their code points, which is that of their bytes
  for (const auto& [word, count] : counts)
    each_character(word, [&](const std::string& character) { characters.insert(character); });
  Tables tables;
  tables.names = {"<pad>", "<unknown>", "<begin>", "<end>"};
  for (const std::string& character : characters) {
    tables.tokens[character] = static_cast<std::int32_t>(tables.names.size());
    tables.names.push_back(character);
  }
  require(tables.names.size() <= size && size < std::size_t{1} << 31, "Subwords: size is ", size,
          ", expected at least ", tables.names.size(),
          ", for the special tokens and the characters of the sentences, and below 2^31");
  std::vector<Tokens> words;
  std::vector<std::int64_t> of_words;
  for (const auto& [word, count] : counts) {
    words.emplace_back();
    each_character(word, [&](const std::string& character) { words.back().push_back(tables.tokens[character]); });
    of_words.push_back(count);
  }
  learn_merges(tables, std::move(words), of_words, size);
  for (const auto& [word, count] : counts) tables.words[word] = tokens_of(tables, word);
  return tables;
}

inline void Subwords::learn_merges(Tables& tables, std::vector<Tokens> words, const std::vector<std::int64_t>& counts,
                                   std::size_t size) {
  std::map<Pair, std::int64_t> pairs;
  std::map<Pair, std::vector<std::size_t>> words_with;  // also words that no longer have the pair
  // Of the most frequent pairs, the queue yields the smallest first. Its counts may be out of date.
  std::priority_queue<std::tuple<std::int64_t, std::int32_t, std::int32_t>> queue;
  const auto count_pairs = [&](std::size_t w, std::int64_t by) {
    for (std::size_t i = 0; i + 1 < words[w].size(); ++i) {
      const Pair pair(words[w][i], words[w][i + 1]);
      std::int64_t& count = pairs[pair];
      count += by;
      if (by < 0) continue;
      words_with[pair].push_back(w);
      queue.emplace(count, -pair.first, -pair.second);
    }
  };
  for (std::size_t w = 0; w < words.size(); ++w) count_pairs(w, counts[w]);
  while (tables.names.size() < size && !queue.empty()) {
    const auto [count, first, second] = queue.top();
    queue.pop();
    const Pair pair(-first, -second);
    const std::int64_t current = pairs[pair];
    if (current != count) {
      if (current > 0 && current < count) queue.emplace(current, first, second);
      continue;
    }
    if (current == 0) continue;
    const std::string name =
        tables.names[static_cast<std::size_t>(pair.first)] + tables.names[static_cast<std::size_t>(pair.second)];
    const auto [found, added] = tables.tokens.emplace(name, static_cast<std::int32_t>(tables.names.size()));
    if (added) tables.names.push_back(name);
    tables.merges.emplace(pair, Merge{tables.merges.size(), found->second});  // a pair that returns keeps its rank
    std::vector<std::size_t> affected = std::move(words_with[pair]);
    std::sort(affected.begin(), affected.end());
    affected.erase(std::unique(affected.begin(), affected.end()), affected.end());
    for (const std::size_t w : affected) {
      count_pairs(w, -counts[w]);
      merge(words[w], pair, found->second);
      count_pairs(w, counts[w]);
    }
  }
}

inline Subwords::Tokens Subwords::tokens_of(const Tables& tables, const std::string& word) {
  Tokens tokens;
  each_character(word, [&](const std::string& character) {
    const auto found = tables.tokens.find(character);
    tokens.push_back(found == tables.tokens.end() ? unknown : found->second);
  });
  for (;;) {  // merges the pair that was learned first
    Pair pair;
    Merge best{std::numeric_limits<std::size_t>::max(), 0};
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i)
      if (const auto found = tables.merges.find({tokens[i], tokens[i + 1]});
          found != tables.merges.end() && found->second.rank < best.rank)
        pair = found->first, best = found->second;
    if (best.rank == std::numeric_limits<std::size_t>::max()) return tokens;
    merge(tokens, pair, best.token);
  }
}

inline std::vector<std::int32_t> Subwords::encode(std::string_view sentence) const {
  Tokens all;
  each_word(sentence, [&](const std::string& word) {
    const auto known = tables_->words.find(word);
    const Tokens tokens = known == tables_->words.end() ? tokens_of(*tables_, word) : known->second;
    all.insert(all.end(), tokens.begin(), tokens.end());
  });
  return all;
}

inline std::string Subwords::decode(std::span<const std::int32_t> tokens) const {
  std::string sentence;
  for (const std::int32_t token : tokens)
    if (token != pad && token != begin && token != end) sentence += name(token);
  std::string text;
  bool blank = false;
  for (std::size_t at = 0; at < sentence.size();) {
    if (sentence.compare(at, mark.size(), mark) == 0) {
      blank = !text.empty();
      at += mark.size();
    } else {
      if (blank) text += ' ';
      blank = false;
      text += sentence[at++];
    }
  }
  return text;
}

}  // namespace algoperf
