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

namespace algoperf {

struct BeamSearchOptions {
  std::size_t beams = 4;            // hypotheses per sentence; 1 selects the most probable token each time (greedy)
  double length_penalty = 0.6;      // larger values favour longer translations
  std::size_t longest = 64;         // the most tokens of a translation, with `end`
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

// The search for the translation of a sentence.
class BeamSearch {
 public:
  BeamSearch(const std::vector<std::int32_t>& source, const BeamSearchOptions& options)
      : source_(&source), options_(options), alive_(1) {}

  const std::vector<std::int32_t>& source() const { return *source_; }
  std::size_t hypotheses() const { return alive_.size(); }
  // Returns the tokens of a hypothesis, without `begin`. All hypotheses have the same number of tokens.
  const std::vector<std::int32_t>& tokens(std::size_t hypothesis) const { return alive_[hypothesis].tokens; }
  // Extends the hypotheses. logits(h) points to those of the next token of hypothesis h.
  template <class Logits>
  void extend(std::size_t vocabulary, const Logits& logits) {
    struct Candidate {
      double log_probability;
      std::size_t hypothesis, token;
    };
    // At most one candidate per hypothesis ends, so at least half of the 2 beams candidates continue.
    const std::size_t most = options_.beams == 1 ? 1 : 2 * options_.beams;
    std::vector<Candidate> best;  // the most probable first
    for (std::size_t h = 0; h < alive_.size(); ++h) {
      const auto* const z = logits(h);
      double top = static_cast<double>(z[0]), sum = 0;
      for (std::size_t k = 1; k < vocabulary; ++k) top = std::max(top, static_cast<double>(z[k]));
      for (std::size_t k = 0; k < vocabulary; ++k) sum += std::exp(static_cast<double>(z[k]) - top);
      require(std::isfinite(top) && std::isfinite(sum), "beam_search: a logit of token ", alive_[h].tokens.size(),
              " is NaN or infinite");
      const double before = alive_[h].log_probability - top - std::log(sum);
      for (std::size_t k = 0; k < vocabulary; ++k) {
        const double log_probability = before + static_cast<double>(z[k]);
        if (best.size() == most && log_probability <= best.back().log_probability) continue;
        if (best.size() == most) best.pop_back();
        auto place = best.end();
        while (place != best.begin() && log_probability > (place - 1)->log_probability) --place;
        best.insert(place, {log_probability, h, k});
      }
    }
    std::vector<Hypothesis> next;
    for (const Candidate& candidate : best) {
      const std::vector<std::int32_t>& tokens = alive_[candidate.hypothesis].tokens;
      if (static_cast<std::int32_t>(candidate.token) == options_.end) {
        finish(tokens, candidate.log_probability);
      } else if (next.size() < options_.beams) {
        next.push_back({tokens, candidate.log_probability});
        next.back().tokens.push_back(static_cast<std::int32_t>(candidate.token));
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
  struct Hypothesis {
    std::vector<std::int32_t> tokens;
    double log_probability = 0;
  };

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

  const std::vector<std::int32_t>* source_;
  BeamSearchOptions options_;
  std::vector<Hypothesis> alive_;  // the most probable first
  std::size_t steps_ = 0;          // tokens of each
  bool ended_ = false;             // whether a hypothesis has ended
  std::vector<std::int32_t> best_;
  double best_score_ = 0;
};

// Returns the inputs of the model for all hypotheses of some searches.
inline TranslationInputs inputs_of(const std::vector<BeamSearch*>& searches, std::int32_t begin) {
  RaggedAxis sources{"source", {}}, targets{"target", {}};
  std::vector<std::int32_t> source, input;
  for (const BeamSearch* search : searches)
    for (std::size_t h = 0; h < search->hypotheses(); ++h) {
      const std::vector<std::int32_t>& tokens = search->tokens(h);
      sources.rows.push_back(static_cast<std::uint32_t>(search->source().size()));
      targets.rows.push_back(static_cast<std::uint32_t>(tokens.size() + 1));
      source.insert(source.end(), search->source().begin(), search->source().end());
      input.push_back(begin);
      input.insert(input.end(), tokens.begin(), tokens.end());
    }
  return TranslationInputs({std::move(sources), std::move(targets)}, {std::move(source), {1}, "source"},
                           {std::move(input), {1}, "target"});
}

}  // namespace detail

// Returns a translation of each source, without `begin` and `end`. sources[i] holds the tokens that the model reads as
// "source"; for a model that was trained on translation_fields, these are source_tokens(subwords, sentence).
// predict(inputs) returns the logits of a model such as EncoderDecoder for every row of "input" of a TranslationInputs:
//   beam_search([&](const auto& inputs) { return predictor.predict(inputs); }, sources)
// Each step extends every hypothesis by a token and keeps the `beams` most probable ones. A hypothesis ends with the
// token `end`, and its score is log(probability) / ((5 + length) / 6)^length_penalty, where length counts `end`. The
// search for a sentence stops when no live hypothesis can beat the best score, or after `longest` tokens. If no
// hypothesis has ended by then, the translation is the most probable live one.
// Source: Wu et al. 2016, arXiv:1609.08144, equation 14, without its coverage penalty, as in AlgoPerf's wmt. AlgoPerf
//   continues until `beams` hypotheses have ended, which does not change the best one.
// Cost: there is no cache of keys and values: for each token, the model encodes the source again, and recomputes all
//   earlier tokens of every hypothesis. Keeps the logits of all rows of a pass in host memory: at most at_once * beams
//   * longest * vocabulary elements.
// Throws Error if a logit is NaN or +infinity, or if all logits of a row are -infinity.
template <class Predict>
std::vector<std::vector<std::int32_t>> beam_search(const Predict& predict,
                                                   const std::vector<std::vector<std::int32_t>>& sources,
                                                   const BeamSearchOptions& options = {}) {
  options.check();
  std::vector<std::vector<std::int32_t>> translations;
  for (std::size_t first = 0; first < sources.size(); first += options.at_once) {
    std::vector<detail::BeamSearch> searches;
    for (std::size_t i = first; i < sources.size() && i < first + options.at_once; ++i)
      searches.emplace_back(sources[i], options);
    for (;;) {
      std::vector<detail::BeamSearch*> open;
      for (detail::BeamSearch& search : searches)
        if (!search.done()) open.push_back(&search);
      if (open.empty()) break;
      const TranslationInputs inputs = detail::inputs_of(open, options.begin);
      const auto logits = predict(inputs);
      std::size_t rows = 0;
      for (const detail::BeamSearch* search : open) rows += search->hypotheses() * (search->tokens(0).size() + 1);
      require(!logits.empty() && logits.size() % rows == 0, "beam_search: the model has ", logits.size(),
              " outputs for ", rows, " rows of its input, expected logits for each row");
      const std::size_t vocabulary = logits.size() / rows;
      const auto* at = logits.data();
      for (detail::BeamSearch* search : open) {
        const std::size_t of_hypothesis = (search->tokens(0).size() + 1) * vocabulary;
        const auto* const begin = at;
        at += search->hypotheses() * of_hypothesis;
        search->extend(vocabulary, [=](std::size_t h) { return begin + (h + 1) * of_hypothesis - vocabulary; });
      }
    }
    for (const detail::BeamSearch& search : searches) translations.push_back(search.best());
  }
  return translations;
}

}  // namespace algoperf
