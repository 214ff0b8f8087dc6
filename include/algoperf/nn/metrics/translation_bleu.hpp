#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../../data/token_sequences.hpp"
#include "../beam_search.hpp"
#include "bleu.hpp"

namespace algoperf {

// Translates the field "source" of a data set by beam search, for models such as EncoderDecoder, and returns the BLEU
// against its field "label". `text`, such as a Subwords, decodes the tokens of both. So a reference is the decoded
// label, as in AlgoPerf: characters outside of the vocabulary are those of the token `unknown`.
// A metric that generates (nn/concept.hpp): it runs the model itself, because the model's outputs for a loss depend on
// the reference.
template <class Text>
struct TranslationBleu {
  static constexpr const char* name = "bleu";
  static constexpr bool lower_is_better = false;
  static constexpr bool generates = true;
  Text text;
  BeamSearchOptions search = {};

  template <class Predict, class Data>
  double score(const Predict& predict, const Data& data) const {
    std::vector<std::string> translations, references;
    for (const std::vector<std::int32_t>& tokens : predict.beam_search(token_sequences(data, "source"), search))
      translations.push_back(text.decode(tokens));
    for (const std::vector<std::int32_t>& tokens : token_sequences(data, "label"))
      references.push_back(text.decode(tokens));
    return bleu(translations, references);
  }
};
template <class Text>
TranslationBleu(Text) -> TranslationBleu<Text>;
template <class Text>
TranslationBleu(Text, BeamSearchOptions) -> TranslationBleu<Text>;

}  // namespace algoperf
