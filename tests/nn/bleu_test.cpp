// BLEU against sacrebleu (tests/golden/make_bleu.py).
#include <algoperf/nn/metrics/bleu.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "../golden/bleu.hpp"

namespace algoperf::testing::of_bleu {

TEST_CASE("bleu: words are sacrebleu's") {
  for (const auto& [sentence, expected] : golden::bleu_words) {
    std::string words;
    for (const std::string& word : detail::bleu_words(sentence)) words += (words.empty() ? "" : " ") + word;
    CHECK(words == expected);
  }
}

TEST_CASE("bleu: scores are sacrebleu's") {
  for (const golden::BleuCorpus& corpus : golden::bleu_corpora) {
    CAPTURE(corpus.translations[0]);
    CHECK(bleu(corpus.translations, corpus.references) == doctest::Approx(corpus.bleu).epsilon(1e-12));
  }
  CHECK(bleu({}, {}) == 0);
  const std::vector<std::string> one{"a"};
  CHECK_THROWS_WITH((void)bleu(one, {}), "bleu: there are 1 translations and 0 references, expected the same number");
}

}  // namespace algoperf::testing::of_bleu
