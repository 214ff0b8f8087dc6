// BLEU: how many n-grams a translation shares with a reference.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/error.hpp"

namespace algoperf {

namespace detail {

// Returns the words of a sentence by the rules of mteval-v13a: punctuation and symbols of ASCII are words, except for
// apostrophes, for hyphens that follow no digit, and for points and commas between digits.
inline std::vector<std::string> bleu_words(std::string_view sentence) {
  std::string text = " ";
  const auto replace = [&text](std::string_view from, std::string_view to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  };
  text += sentence;
  text += ' ';
  replace("<skipped>", "");
  replace("-\n", "");
  replace("\n", " ");
  replace("&quot;", "\"");
  replace("&amp;", "&");
  replace("&lt;", "<");
  replace("&gt;", ">");

  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_point = [](char c) { return c == '.' || c == ','; };
  std::string spaced;
  for (const char c : text) {
    const bool symbol = (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') ||
                        (c >= '(' && c <= '+') || (c >= ':' && c <= '@') || c == '/';
    if (symbol) spaced += ' ';
    spaced += c;
    if (symbol) spaced += ' ';
  }
  // Each pass goes from left to right, and a character that a replacement has used begins no other.
  text.clear();
  for (std::size_t i = 0; i < spaced.size(); ++i) {
    text += spaced[i];
    if (i + 1 < spaced.size() && !is_digit(spaced[i]) && is_point(spaced[i + 1]))
      text.append(" ").append(1, spaced[++i]).append(" ");
  }
  spaced.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i + 1 < text.size() && is_point(text[i]) && !is_digit(text[i + 1]))
      spaced.append(" ").append(1, text[i]).append(" ").append(1, text[i + 1]), ++i;
    else
      spaced += text[i];
  }
  text.clear();
  for (std::size_t i = 0; i < spaced.size(); ++i) {
    text += spaced[i];
    if (i + 1 < spaced.size() && is_digit(spaced[i]) && spaced[i + 1] == '-') text.append(" - "), ++i;
  }

  std::vector<std::string> words;
  constexpr std::string_view white = " \t\n\r\v\f";
  for (std::size_t at = 0; (at = text.find_first_not_of(white, at)) != std::string::npos;) {
    const std::size_t stop = std::min(text.find_first_of(white, at), text.size());
    words.push_back(text.substr(at, stop - at));
    at = stop;
  }
  return words;
}

using BleuGram = std::array<std::size_t, 4>;  // the indices of its words, then zeros

// Returns the n-grams of a text of words, in ascending order.
inline std::vector<BleuGram> bleu_grams(const std::vector<std::size_t>& words, std::size_t n) {
  std::vector<BleuGram> grams;
  for (std::size_t i = 0; i + n <= words.size(); ++i) {
    grams.push_back({});
    for (std::size_t k = 0; k < n; ++k) grams.back()[k] = words[i + k];
  }
  std::sort(grams.begin(), grams.end());
  return grams;
}

}  // namespace detail

// Returns the BLEU of a corpus of translations with one reference each, from 0 to 100:
//   100 min(1, exp(1 - r / t)) (p_1 p_2 p_3 p_4)^(1/4)
// where t and r are the numbers of words of all translations and of all references, and p_n is the share of the
// translations' n-grams that occur in their reference, each at most as often as there. If p_n
// would be 0, it is 1 / (2^k m) instead, where m is the number of the translations' n-grams, and p_n is the k-th such
// share. BLEU is 0 if no word is shared, or if there are no n-grams of some length.
// Source: Papineni et al. 2002; words, smoothing ("exp") and defaults of sacrebleu (Post 2018, arXiv:1804.08771), as in
//   AlgoPerf's wmt. Departs from sacrebleu in white space outside of ASCII, which separates no words here.
// Throws Error unless there are as many references as translations.
inline double bleu(std::span<const std::string> translations, std::span<const std::string> references) {
  constexpr std::size_t orders = 4;
  require(translations.size() == references.size(), "bleu: there are ", translations.size(), " translations and ",
          references.size(), " references, expected the same number");
  std::uint64_t shared[orders] = {}, all[orders] = {}, words = 0, of_references = 0;
  for (std::size_t i = 0; i < translations.size(); ++i) {
    const std::vector<std::string> ours = detail::bleu_words(translations[i]),
                                   theirs = detail::bleu_words(references[i]);
    words += ours.size();
    of_references += theirs.size();
    std::vector<std::string> sorted = ours;
    sorted.insert(sorted.end(), theirs.begin(), theirs.end());
    std::sort(sorted.begin(), sorted.end());
    const auto indices = [&sorted](const std::vector<std::string>& of) {
      std::vector<std::size_t> found;
      for (const std::string& word : of)
        found.push_back(
            static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), word) - sorted.begin()));
      return found;
    };
    const std::vector<std::size_t> our_words = indices(ours), their_words = indices(theirs);
    for (std::size_t n = 1; n <= orders; ++n) {
      const auto found = detail::bleu_grams(our_words, n), expected = detail::bleu_grams(their_words, n);
      std::vector<detail::BleuGram> both(found.size());
      const auto end =
          std::set_intersection(found.begin(), found.end(), expected.begin(), expected.end(), both.begin());
      all[n - 1] += found.size();
      shared[n - 1] += static_cast<std::uint64_t>(end - both.begin());
    }
  }
  if (shared[0] == 0) return 0;
  double logarithms = 0, smoothing = 1;
  for (std::size_t n = 0; n < orders; ++n) {
    if (all[n] == 0) return 0;
    if (shared[n] == 0) smoothing *= 2;
    const double precision = shared[n] == 0 ? 1 / (smoothing * static_cast<double>(all[n]))
                                            : static_cast<double>(shared[n]) / static_cast<double>(all[n]);
    logarithms += std::log(precision);
  }
  const double ratio = static_cast<double>(of_references) / static_cast<double>(words);
  return 100 * std::exp(logarithms / static_cast<double>(orders) + std::min(0.0, 1 - ratio));
}

}  // namespace algoperf
