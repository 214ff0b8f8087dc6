// beam_search: translates with a model that predicts each token from the tokens before it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../data/in_memory_fields.hpp"
#include "decoding.hpp"

namespace algoperf {

struct BeamSearchOptions {
  std::size_t beams = 4;            // hypotheses per sentence; 1 selects the most probable token each time (greedy)
  double length_penalty = 0.6;      // larger values favour longer translations
  std::size_t longest = 64;         // the maximum number of tokens of a translation, with `end`
  std::size_t at_once = 64;         // sentences translated at a time
  std::int32_t begin = 2, end = 3;  // tokens, those of Subwords

  void check() const {
    require(length_penalty >= 0 && std::isfinite(length_penalty), "BeamSearchOptions: length_penalty is ",
            length_penalty, ", expected a finite number of at least 0");
    require(beams > 0 && longest > 0 && at_once > 0, "BeamSearchOptions: beams is ", beams, ", longest ", longest,
            " and at_once ", at_once, ", expected at least 1 each");
  }
};

// The fields that the model reads.
using TranslationInputs = InMemoryFields<Field<"source", std::int32_t>, Field<"input", std::int32_t>>;

namespace detail {

// Writes the maximum of each block of logits. May ignore NaN.
inline constexpr std::size_t logits_block = 64;
template <class S>
void find_block_maxima(std::size_t n, const S* z, std::vector<S>& maxima) {
  constexpr std::size_t width = 16;
  maxima.clear();
  for (; n >= logits_block; n -= logits_block, z += logits_block) {
    S most[width];
    for (std::size_t j = 0; j < width; ++j) most[j] = z[j];
    for (std::size_t k = width; k < logits_block; k += width)
      for (std::size_t j = 0; j < width; ++j) most[j] = z[k + j] > most[j] ? z[k + j] : most[j];
    maxima.push_back(*std::max_element(most, most + width));
  }
  if (n > 0) maxima.push_back(*std::max_element(z, z + n));
}

// The search for the translation of a sentence.
class BeamSearch {
 public:
  explicit BeamSearch(const BeamSearchOptions& options) : options_(options), alive_(1) {}

  // Its last token extends hypothesis `parent` of the step before.
  struct Hypothesis {
    std::vector<std::int32_t> tokens;  // without `begin`
    double log_probability = 0;
    std::size_t parent = 0;
  };
  const std::vector<Hypothesis>& hypotheses() const { return alive_; }
  // Extends the hypotheses by the logits of their next tokens, a row of `vocabulary` each, and the logs of the sums of
  // their exponentials.
  template <class S>
  void extend(std::size_t vocabulary, const S* logits, const S* log_sums) {
    struct Candidate {
      double log_probability;
      std::size_t hypothesis, token;
    };
    // At most one candidate per hypothesis ends, so at least half of the 2 x beams candidates continue.
    const std::size_t most = options_.beams == 1 ? 1 : 2 * options_.beams;
    std::vector<Candidate> best;  // the most probable first
    std::vector<S> maxima;
    for (std::size_t h = 0; h < alive_.size(); ++h) {
      const S* const z = logits + h * vocabulary;
      require(std::isfinite(log_sums[h]), "beam_search: a logit of token ", alive_[h].tokens.size(),
              " is NaN or infinite");
      const double before = alive_[h].log_probability - static_cast<double>(log_sums[h]);
      find_block_maxima(vocabulary, z, maxima);
      const auto is_worse = [&](S logit) {
        return best.size() == most && before + static_cast<double>(logit) <= best.back().log_probability;
      };
      for (std::size_t block = 0; block < maxima.size(); ++block) {
        if (is_worse(maxima[block])) continue;
        for (std::size_t k = block * logits_block; k < vocabulary && k < (block + 1) * logits_block; ++k) {
          if (is_worse(z[k])) continue;
          const double log_probability = before + static_cast<double>(z[k]);
          if (best.size() == most) best.pop_back();
          auto place = best.end();
          while (place != best.begin() && log_probability > (place - 1)->log_probability) --place;
          best.insert(place, {log_probability, h, k});
        }
      }
    }
    std::vector<Hypothesis> next;
    for (const Candidate& candidate : best) {
      const std::vector<std::int32_t>& tokens = alive_[candidate.hypothesis].tokens;
      const auto token = static_cast<std::int32_t>(candidate.token);
      if (token == options_.end) {
        finish(tokens, candidate.log_probability);
      } else if (next.size() < options_.beams) {
        next.push_back({tokens, candidate.log_probability, candidate.hypothesis});
        next.back().tokens.push_back(token);
      }
    }
    alive_ = std::move(next);
    ++steps_;
  }
  // Whether no hypothesis can reach the score of the best one that ended.
  bool done() const {
    if (alive_.empty() || steps_ == options_.longest) return true;
    return ended_ && best_score_ > alive_[0].log_probability / penalty(options_.longest);
  }
  // Returns the tokens of the best hypothesis that ended, or if none did, of the most probable one, without `end`.
  const std::vector<std::int32_t>& best() const { return ended_ ? best_ : alive_[0].tokens; }

 private:
  double penalty(std::size_t length) const {
    return std::pow((5 + static_cast<double>(length)) / 6, options_.length_penalty);
  }
  void finish(const std::vector<std::int32_t>& tokens, double log_probability) {
    const double score = log_probability / penalty(steps_ + 1);
    if (ended_ && score <= best_score_) return;
    ended_ = true;
    best_ = tokens;
    best_score_ = score;
  }

  BeamSearchOptions options_;
  std::vector<Hypothesis> alive_;  // the most probable first
  std::size_t steps_ = 0;          // tokens of each
  bool ended_ = false;             // whether a hypothesis has ended
  std::vector<std::int32_t> best_;
  double best_score_ = 0;
};

// Returns sources as the data set of a Decoder.
inline TranslationInputs inputs_of(const std::vector<std::vector<std::int32_t>>& sources) {
  RaggedAxis rows{"source", {}};
  std::vector<std::int32_t> tokens;
  for (const std::vector<std::int32_t>& source : sources) {
    rows.rows.push_back(static_cast<std::uint32_t>(source.size()));
    tokens.insert(tokens.end(), source.begin(), source.end());
  }
  return TranslationInputs({std::move(rows), {"target", std::vector<std::uint32_t>(sources.size())}},
                           {std::move(tokens), {1}, "source"}, {{}, {1}, "target"});
}

// Appends the last token of each hypothesis of a search for an example. `before` is the row of the example's first
// hypothesis of the step before.
inline void append_tokens(const BeamSearch& search, std::size_t example, std::size_t before, std::int32_t begin,
                          std::vector<SequenceToken>& tokens) {
  for (const BeamSearch::Hypothesis& hypothesis : search.hypotheses())
    tokens.push_back(
        {example, before + hypothesis.parent, hypothesis.tokens.empty() ? begin : hypothesis.tokens.back()});
}

// Appends the best translation of each of n sources, from `first` on.
template <class Decoder>
void beam_search(Decoder& decoder, const TranslationInputs& sources, std::size_t first, std::size_t n,
                 const BeamSearchOptions& options, std::vector<std::vector<std::int32_t>>& translations) {
  decoder.begin(sources, first, n);
  std::vector<BeamSearch> searches(n, BeamSearch(options));
  std::vector<SequenceToken> tokens, next;
  for (std::size_t e = 0; e < n; ++e) append_tokens(searches[e], e, 0, options.begin, tokens);
  while (!tokens.empty()) {
    const auto& logits = decoder.step(tokens);
    const auto& log_sums = decoder.log_sums();
    next.clear();
    for (std::size_t row = 0; row < tokens.size();) {
      const std::size_t e = tokens[row].example, hypotheses = searches[e].hypotheses().size();
      searches[e].extend(decoder.output_width(), logits.data() + row * decoder.output_width(), log_sums.data() + row);
      if (!searches[e].done()) append_tokens(searches[e], e, row, options.begin, next);
      row += hypotheses;
    }
    std::swap(tokens, next);
  }
  for (const BeamSearch& search : searches) translations.push_back(search.best());
}

}  // namespace detail

// Returns a translation of each source, without `begin` and `end`. sources[i] holds the tokens that the model reads as
// "source"; for a model that was trained on translation_fields, these are source_tokens(subwords, sentence). The model
// is a Predictor or another object whose decoder(sizes) returns a Decoder, of a model such as EncoderDecoder, which
// decodes the field "input":
//   beam_search(predictor, sources, {.beams = 4})
// Each step extends every hypothesis by a token and keeps the `beams` most probable ones. A hypothesis ends with the
// token `end`, and its score is log(probability) / ((5 + length) / 6)^length_penalty, where length counts `end`. The
// search for a sentence stops when no live hypothesis can beat the best score, or after `longest` tokens. If no
// hypothesis has ended by then, the translation is the most probable live one.
// Source: Wu et al. 2016, arXiv:1609.08144, equation 14, without its coverage penalty, as in AlgoPerf's wmt. AlgoPerf
//   continues until `beams` hypotheses have ended, which does not change the best one.
// Cost: the model encodes each source once, and computes one row per hypothesis and token.
// Throws Error if a logit is NaN or +infinity, or if all logits of a row are -infinity; and if the model cannot decode,
// or not as many tokens as `longest`.
template <class Model>
std::vector<std::vector<std::int32_t>> beam_search(const Model& model,
                                                   const std::vector<std::vector<std::int32_t>>& sources,
                                                   const BeamSearchOptions& options = {}) {
  options.check();
  std::vector<std::vector<std::int32_t>> translations;
  if (sources.empty()) return translations;
  const std::size_t at_once = std::min(options.at_once, sources.size());
  auto decoder = model.decoder({.examples = at_once, .sequences = options.beams, .steps = options.longest});
  const TranslationInputs inputs = detail::inputs_of(sources);
  for (std::size_t first = 0; first < sources.size(); first += at_once)
    detail::beam_search(decoder, inputs, first, std::min(at_once, sources.size() - first), options, translations);
  return translations;
}

}  // namespace algoperf
