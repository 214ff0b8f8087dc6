// beam_search, and the BLEU of its translations.
#include <algoperf/nn/beam_search.hpp>

#include <doctest/doctest.h>

#include <algoperf/algoperf.hpp>
#include <algoperf/data/subwords.hpp>
#include <algoperf/data/translation_fields.hpp>
#include <algoperf/nn/metrics/translation_bleu.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace algoperf::testing::of_beam_search {

using Tokens = std::vector<std::int32_t>;
constexpr std::size_t vocabulary = 6;
constexpr std::int32_t end = 3;

// Logits that depend on the source and on all tokens so far, from `begin` on.
std::vector<double> logits_of(const Tokens& source, const Tokens& tokens) {
  std::uint64_t hash = 7;
  for (const Tokens& each : {source, tokens})
    for (const std::int32_t token : each) hash = hash * 31 + static_cast<std::uint64_t>(token) + 1;
  RandomStream random(RandomKey{hash});
  std::vector<double> z;
  for (std::size_t k = 0; k < vocabulary; ++k) z.push_back(2 * random.normal());
  return z;
}
// Returns the log of the sum of the exponentials of each row of `width` elements.
template <class S>
std::vector<S> log_sums_of(const std::vector<S>& rows, std::size_t width) {
  std::vector<S> found;
  for (std::size_t i = 0; i < rows.size(); i += width) {
    double sum = 0;
    for (std::size_t k = i; k < i + width; ++k) sum += std::exp(static_cast<double>(rows[k]));
    found.push_back(static_cast<S>(std::log(sum)));
  }
  return found;
}
// The same as a model that decodes.
struct HashModel {
  double* first_logit = nullptr;  // replaces that of the first row, if given

  struct Decoder {
    DecodingSizes sizes;
    double* first_logit;
    std::vector<Tokens> sources = {}, sequences = {};
    std::vector<double> logits = {};

    std::size_t output_width() const { return vocabulary; }
    void begin(const TranslationInputs& inputs, std::size_t first, std::size_t n) {
      const auto all = token_sequences(inputs, "source");
      sources.assign(all.begin() + static_cast<std::ptrdiff_t>(first),
                     all.begin() + static_cast<std::ptrdiff_t>(first + n));
      CHECK(n <= sizes.examples);
      sequences.clear();
    }
    const std::vector<double>& step(const std::vector<SequenceToken>& tokens) {
      std::vector<Tokens> longer;
      logits.clear();
      for (std::size_t r = 0, of_example = 0; r < tokens.size(); ++r) {
        of_example = r > 0 && tokens[r].example == tokens[r - 1].example ? of_example + 1 : 1;
        CHECK(of_example <= sizes.sequences);
        longer.push_back(sequences.empty() ? Tokens() : sequences[tokens[r].parent]);
        longer.back().push_back(tokens[r].token);
        CHECK(longer.back().size() <= sizes.steps);
        const auto z = logits_of(sources[tokens[r].example], longer.back());
        logits.insert(logits.end(), z.begin(), z.end());
      }
      if (first_logit != nullptr) logits[1] = *first_logit;
      sequences = longer;
      return logits;
    }
    std::vector<double> log_sums() const { return log_sums_of(logits, vocabulary); }
  };
  Decoder decoder(const DecodingSizes& sizes) const { return {sizes, first_logit}; }
};
const HashModel model;

// Returns the best of all sequences of at most `longest` tokens that end, by enumeration.
Tokens best_of_all(const Tokens& source, std::size_t longest, double alpha) {
  Tokens best;
  double highest = -std::numeric_limits<double>::infinity();
  const std::function<void(const Tokens&, double)> visit = [&](const Tokens& tokens, double log_probability) {
    const auto z = logits_of(source, tokens);
    double sum = 0;
    for (const double each : z) sum += std::exp(each);
    const std::size_t length = tokens.size();  // of the extended sequence, without `begin`
    for (std::size_t k = 0; k < vocabulary; ++k) {
      const double extended = log_probability + z[k] - std::log(sum);
      if (static_cast<std::int32_t>(k) == end) {
        const double score = extended / std::pow((5 + static_cast<double>(length)) / 6, alpha);
        if (score > highest) highest = score, best = Tokens(tokens.begin() + 1, tokens.end());
      } else if (length < longest) {
        Tokens next = tokens;
        next.push_back(static_cast<std::int32_t>(k));
        visit(next, extended);
      }
    }
  };
  visit({2}, 0);
  return best;
}

// The same search without its early end, with all extensions of the hypotheses in one sorted list.
Tokens best_of_beams(const Tokens& source, const BeamSearchOptions& options) {
  using Scored = std::pair<double, Tokens>;
  std::vector<Scored> alive{{0, {2}}}, finished;
  const auto best_first = [](const Scored& a, const Scored& b) { return a.first > b.first; };
  for (std::size_t length = 1; length <= options.longest; ++length) {
    std::vector<Scored> extended;
    for (const auto& [log_probability, tokens] : alive) {
      const auto z = logits_of(source, tokens);
      double sum = 0;
      for (const double each : z) sum += std::exp(each);
      for (std::size_t k = 0; k < vocabulary; ++k) {
        extended.emplace_back(log_probability + z[k] - std::log(sum), tokens);
        extended.back().second.push_back(static_cast<std::int32_t>(k));
      }
    }
    std::sort(extended.begin(), extended.end(), best_first);
    extended.resize(std::min(extended.size(), 2 * options.beams));
    alive.clear();
    for (const auto& [log_probability, tokens] : extended)
      if (tokens.back() == end)
        finished.emplace_back(log_probability / std::pow((5 + static_cast<double>(length)) / 6, options.length_penalty),
                              tokens);
      else if (alive.size() < options.beams)
        alive.emplace_back(log_probability, tokens);
  }
  if (finished.empty()) return {alive[0].second.begin() + 1, alive[0].second.end()};
  std::sort(finished.begin(), finished.end(), best_first);
  return {finished[0].second.begin() + 1, finished[0].second.end() - 1};
}

const std::vector<Tokens> sources{{4}, {5, 4}, {}, {1, 1, 5}, {0, 4}, {4, 4, 4}};

TEST_CASE("beam search: finds the best of all translations if no hypothesis is dropped") {
  for (const double alpha : {0.0, 0.6, 2.0}) {
    const BeamSearchOptions options{.beams = 200, .length_penalty = alpha, .longest = 4, .at_once = 4};
    const auto found = beam_search(model, sources, options);
    REQUIRE(found.size() == sources.size());
    for (std::size_t i = 0; i < sources.size(); ++i) CHECK(found[i] == best_of_all(sources[i], 4, alpha));
  }
}

TEST_CASE("beam search: keeps as many hypotheses as beams, and ends early only if that changes nothing") {
  std::vector<Tokens> many;
  for (std::int32_t i = 0; i < 60; ++i) many.push_back({i % 6, i / 6});
  std::size_t wider = 0;
  for (const double alpha : {0.0, 0.6, 4.0})
    for (const std::size_t beams : {2u, 3u}) {
      const BeamSearchOptions options{.beams = beams, .length_penalty = alpha, .longest = 6};
      const auto found = beam_search(model, many, options);
      for (std::size_t i = 0; i < many.size(); ++i) {
        INFO("alpha ", alpha, ", ", beams, " beams, source ", i);
        CHECK(found[i] == best_of_beams(many[i], options));
        BeamSearchOptions half = options;
        half.beams = 1;
        wider += found[i] != best_of_beams(many[i], half);
      }
    }
  CHECK(wider > 0);
}

TEST_CASE("beam search: one beam takes the most probable token each time") {
  std::size_t ended = 0, other = 0;
  const auto greedy = beam_search(model, sources, {.beams = 1, .longest = 5});
  const auto wide = beam_search(model, sources, {.beams = 4, .longest = 5});
  for (std::size_t i = 0; i < sources.size(); ++i) {
    Tokens expected{2};
    while (expected.size() <= 5) {
      const auto z = logits_of(sources[i], expected);
      const auto next = static_cast<std::int32_t>(std::max_element(z.begin(), z.end()) - z.begin());
      if (next == end) break;
      expected.push_back(next);
    }
    ended += expected.size() <= 5;
    CHECK(greedy[i] == Tokens(expected.begin() + 1, expected.end()));
    other += wide[i] != greedy[i];
  }
  CHECK(ended > 0);
  CHECK(ended < sources.size());  // some are as long as they may be
  CHECK(other > 0);
  CHECK(beam_search(model, {}).empty());
}

// The logits of a step that finds the best extensions by blocks.
TEST_CASE_TEMPLATE("beam search: the extensions are the most probable ones of all", S, double, float) {
  RandomStream random(RandomKey{5});
  for (const std::size_t classes : {5u, 63u, 64u, 65u, 200u, 321u}) {
    detail::BeamSearch search({.beams = 5, .longest = 9});
    std::vector<std::pair<double, Tokens>> alive{{0, {}}};
    for (int step = 0; step < 4; ++step) {
      std::vector<S> z(alive.size() * classes);
      for (S& logit : z) logit = static_cast<S>(3 * random.normal());
      if (step == 2) z[classes - 1] = -std::numeric_limits<S>::infinity();
      const std::vector<S> log_sums = log_sums_of(z, classes);
      std::vector<std::pair<double, Tokens>> all;
      for (std::size_t h = 0; h < alive.size(); ++h)
        for (std::size_t k = 0; k < classes; ++k) {
          if (static_cast<std::int32_t>(k) == end) continue;
          const double log_probability = static_cast<double>(z[h * classes + k]) - static_cast<double>(log_sums[h]);
          all.emplace_back(alive[h].first + log_probability, alive[h].second);
          all.back().second.push_back(static_cast<std::int32_t>(k));
        }
      std::sort(all.begin(), all.end(), std::greater<>());
      all.resize(std::min<std::size_t>(all.size(), 5));
      search.extend(classes, z.data(), log_sums.data());
      REQUIRE(search.hypotheses().size() == all.size());
      for (std::size_t h = 0; h < all.size(); ++h) {
        const auto& hypothesis = search.hypotheses()[h];
        CHECK(hypothesis.tokens == all[h].second);
        CHECK(std::abs(hypothesis.log_probability - all[h].first) < 1e-13);
        Tokens longer = alive[hypothesis.parent].second;
        longer.push_back(hypothesis.tokens.back());
        CHECK(longer == hypothesis.tokens);
      }
      alive = all;
    }
  }
}

TEST_CASE("beam search: errors") {
  CHECK_THROWS_WITH((void)beam_search(model, sources, {.beams = 0}),
                    "BeamSearchOptions: beams is 0, longest 64 and at_once 64, expected at least 1 each");
  for (double wrong : {std::nan(""), std::numeric_limits<double>::infinity()})
    CHECK_THROWS_WITH((void)beam_search(HashModel{&wrong}, sources),
                      "beam_search: a logit of token 0 is NaN or infinite");
  CHECK_THROWS_WITH((void)beam_search(model, sources, {.length_penalty = -1}),
                    "BeamSearchOptions: length_penalty is -1, expected a finite number of at least 0");
  const TranslationFields data = translation_fields({"a"}, {"b"}, Subwords({"a b"}, 9));
  CHECK_THROWS_WITH((void)token_sequences(data, "words"),
                    "token_sequences: the data set has no field 'words' of tokens");
}

TEST_CASE("translations: a small model learns to reverse, and its BLEU is that of its translations") {
  const std::vector<std::string> words{"red", "green", "blue"};
  std::vector<std::string> from, to;
  RandomStream random(RandomKey{1});
  for (std::size_t i = 0; i < 340; ++i) {
    from.emplace_back();
    to.emplace_back();
    for (std::size_t n = 3 + random.below(2); n > 0; --n) {
      const std::string& word = words[random.below(3)];
      from.back() += word + " ";
      to.back() = word + (to.back().empty() ? "" : " ") + to.back();
    }
  }
  const Subwords subwords(from, 100);
  const TranslationFields data = translation_fields(from, to, subwords);
  const EncoderDecoder<> translator{.vocabulary = subwords.size(), .width = 16, .blocks = 1, .hidden = 16};
  TrainingLoop loop(translator, SoftmaxCrossEntropy{}, adamw(), Constant{1e-2}, ShuffledEpochs{.batch = 16});
  const auto held_out = data.subset(300, 340);
  const TranslationBleu metric{subwords, {.beams = 2, .longest = 6}};
  const double before = loop.evaluate(held_out, metric).metric;
  loop.run(data.subset(0, 300), UntilStep{200});
  const EvaluationReport report = loop.evaluate(held_out, metric);
  CHECK(source_tokens(subwords, from[300]) == token_sequences(held_out, "source")[0]);
  CHECK(before < 20);
  CHECK(report.metric > 50);
  CHECK(report.loss < 0.3);
  CHECK(!report.lower_is_better);
  Predictor predictor(translator);
  load_values(values_dict(loop), predictor);
  const auto found = beam_search(predictor, token_sequences(held_out, "source"), metric.search);
  std::vector<std::string> translations;
  for (const Tokens& tokens : found) translations.push_back(subwords.decode(tokens));
  CHECK(bleu(translations, std::vector<std::string>(to.begin() + 300, to.end())) == report.metric);
  for (float& value : loop.values("embedding")) value = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isnan(loop.evaluate(held_out, metric).metric));
}

}  // namespace algoperf::testing::of_beam_search
