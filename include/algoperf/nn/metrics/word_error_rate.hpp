#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../core/error.hpp"
#include "../ctc_decode.hpp"
#include "evaluated_rows.hpp"

namespace algoperf {

// The word error rate of a model trained by CtcLoss: the edit distance, in words, from the decoded outputs to the
// labels, summed over the examples and divided by the number of the labels' words. It can exceed 1. Weights are not
// used. Outputs are decoded by ctc_decode().
// Hyperparameters: blank, a class; separator: the class between words. Words are then the longest sequences of other
//   classes, and several separators in a row count as one. Without it, each symbol is a word.
// As jiwer's wer. value throws Error if the labels have no words.
struct WordErrorRate {
  static constexpr const char* name = "word error rate";
  static constexpr bool lower_is_better = true;
  static constexpr bool decodes = true;
  static constexpr std::size_t no_separator = ~std::size_t{0};
  std::size_t blank = 0;
  std::size_t separator = no_separator;

  struct State {
    std::size_t errors = 0, words = 0;
  };

  template <class S>
  void add(State& state, const EvaluatedRows<S, std::int32_t>& batch) const {
    require(blank < batch.width, "WordErrorRate: blank is ", blank, ", expected one of the ", batch.width, " classes");
    require(separator == no_separator || (separator < batch.width && separator != blank),
            "WordErrorRate: separator is ", separator, ", expected one of the ", batch.width,
            " classes other than the blank, ", blank);
    for (std::size_t e = 0; e < batch.examples; ++e) {
      const std::int32_t* const labels = batch.labels;
      const Words expected = words_of({labels + batch.label_rows.begin(e), labels + batch.label_rows.end(e)});
      const Words found =
          words_of(ctc_decode(batch.outputs + batch.output_rows.begin(e) * batch.width,
                              batch.output_rows.end(e) - batch.output_rows.begin(e), batch.width, blank));
      state.errors += distance(found, expected);
      state.words += expected.size();
    }
  }
  double value(const State& state) const {
    require(state.words > 0, "WordErrorRate: the labels have no words");
    return static_cast<double>(state.errors) / static_cast<double>(state.words);
  }

 private:
  using Word = std::vector<std::int32_t>;
  using Words = std::vector<Word>;

  Words words_of(const Word& symbols) const {
    Words words;
    bool inside = false;
    for (const std::int32_t symbol : symbols) {
      if (static_cast<std::size_t>(symbol) == separator) {
        inside = false;
        continue;
      }
      if (!inside) words.emplace_back();
      words.back().push_back(symbol);
      inside = separator != no_separator;
    }
    return words;
  }
  // Returns the fewest insertions, deletions and substitutions of words (Levenshtein 1966; Wagner & Fischer 1974).
  static std::size_t distance(const Words& a, const Words& b) {
    std::vector<std::size_t> row(b.size() + 1);  // the distances of a's first i words from the beginnings of b
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j <= b.size(); ++j) {
        const std::size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
        diagonal = row[j];
        const std::size_t moved = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
        row[j] = substituted < moved ? substituted : moved;
      }
    }
    return row[b.size()];
  }
};

}  // namespace algoperf
