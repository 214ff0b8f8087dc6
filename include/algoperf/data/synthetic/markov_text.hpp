// MarkovText: a synthetic text of known entropy, for language models without a download.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/random.hpp"

namespace algoperf {

// A Markov chain: the probabilities of the next character depend on the last `order` characters, its state. In each
// state, `branches` random characters share the probability 1 - noise at random. The probability `noise` is uniform
// over all characters.
//   const MarkovText chain;
//   const TextSequences text(Text::from_string(chain.draw(200000)), {.length = 32});
//   chain.best_loss(32);   // no model has a lower expected loss on it
// Throws Error unless characters is 2 to 95, order at least 1 with at most 2^20 states, branches 1 to `characters`, and
// noise in [0.01, 1]. Cost: 8 bytes per state and character; the stationary distribution takes longer with less noise.
class MarkovText {
 public:
  struct Options {
    std::uint64_t seed = 1;
    std::size_t characters = 16, order = 2, branches = 4;
    double noise = 0.05;
  };

  MarkovText() : MarkovText(Options()) {}
  explicit MarkovText(const Options& options);

  // Returns a text of `count` characters. Character c is the byte ' ' + c. `stream` selects one of many texts of the
  // same chain, whose first characters are drawn from its stationary distribution.
  std::string draw(std::size_t count, std::uint64_t stream = 0) const;
  // Returns the probability that character `next` follows `state`. A state is a number with `order` digits in base
  // `characters`: the last `order` characters, of which the newest is the lowest digit. Characters are counted from 0.
  double probability(std::size_t state, std::size_t next) const {
    return probabilities_[state * options_.characters + next];
  }
  // Returns the entropy, in nats, of a character given the `known` characters before it, in a long text. From `order`
  // on, it is the entropy rate of the chain.
  double entropy(std::size_t known) const { return entropies_[known < options_.order ? known : options_.order]; }
  // Returns the least expected loss, in nats per character, of predicting characters 2 to length + 1 of a sequence,
  // each from those before it.
  double best_loss(std::size_t length) const {
    require(length > 0, "MarkovText: the length is 0, expected at least 1");
    double total = 0;
    for (std::size_t known = 1; known <= length; ++known) total += entropy(known);
    return total / static_cast<double>(length);
  }

 private:
  static void normalize(std::size_t n, double* p) {
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) total += p[i];
    for (std::size_t i = 0; i < n; ++i) p[i] /= total;
  }
  void find_stationary();
  void find_entropies();

  Options options_;
  std::size_t states_ = 1;
  std::vector<double> probabilities_, stationary_, entropies_;
};

inline MarkovText::MarkovText(const Options& options) : options_(options) {
  require(options.characters >= 2 && options.characters <= 95, "MarkovText: characters is ", options.characters,
          ", expected 2 to 95");
  require(options.branches >= 1 && options.branches <= options.characters, "MarkovText: branches is ", options.branches,
          ", expected 1 to ", options.characters);
  require(options.noise >= 0.01 && options.noise <= 1, "MarkovText: noise is ", options.noise, ", expected [0.01, 1]");
  for (std::size_t i = 0; i < options.order && states_ <= std::size_t{1} << 20; ++i) states_ *= options.characters;
  require(options.order >= 1 && states_ <= std::size_t{1} << 20, "MarkovText: order is ", options.order,
          ", expected at least 1, with characters^order at most 2^20");
  probabilities_.assign(states_ * options.characters, options.noise / static_cast<double>(options.characters));
  for (std::size_t state = 0; state < states_; ++state) {
    RandomStream random(RandomKey{options.seed}.fold(state));
    double* const of_state = probabilities_.data() + state * options.characters;
    // Chooses the branches without repetition; their shares are uniform on the simplex.
    std::vector<std::size_t> branches;
    std::vector<double> shares;
    double total = 0;
    std::size_t wanted = options.branches;
    for (std::size_t c = 0; c < options.characters; ++c)
      if (random.below(static_cast<std::uint32_t>(options.characters - c)) < wanted) {
        --wanted;
        branches.push_back(c);
        shares.push_back(-std::log((random.bits() + 0.5) * 0x1p-32));
        total += shares.back();
      }
    for (std::size_t b = 0; b < branches.size(); ++b) of_state[branches[b]] += (1 - options.noise) * shares[b] / total;
    normalize(options.characters, of_state);
  }
  find_stationary();
  find_entropies();
}

// Power iteration, until the probabilities change by at most 1e-12 in total. Noise makes every state reachable from
// every other within `order` steps, so it converges.
inline void MarkovText::find_stationary() {
  const std::size_t n = options_.characters;
  stationary_.assign(states_, 1 / static_cast<double>(states_));
  for (double change = 1; change > 1e-12;) {
    std::vector<double> next(states_, 0);
    for (std::size_t state = 0; state < states_; ++state)
      for (std::size_t c = 0; c < n; ++c) next[(state * n + c) % states_] += stationary_[state] * probability(state, c);
    normalize(states_, next.data());
    change = 0;
    for (std::size_t state = 0; state < states_; ++state) change += std::abs(next[state] - stationary_[state]);
    stationary_ = std::move(next);
  }
}

// The joint distribution of `known` characters and the next one is a marginal of (stationary probability) x
// (transition probability): the sum over the earlier characters of the state.
inline void MarkovText::find_entropies() {
  const std::size_t n = options_.characters;
  std::size_t contexts = 1;
  for (std::size_t known = 0; known <= options_.order; ++known, contexts *= n) {
    std::vector<double> joint(contexts * n, 0), of_context(contexts, 0);
    for (std::size_t state = 0; state < states_; ++state)
      for (std::size_t c = 0; c < n; ++c) joint[state % contexts * n + c] += stationary_[state] * probability(state, c);
    for (std::size_t i = 0; i < joint.size(); ++i) of_context[i / n] += joint[i];
    double entropy = 0;
    for (std::size_t i = 0; i < joint.size(); ++i)
      if (joint[i] > 0) entropy -= joint[i] * std::log(joint[i] / of_context[i / n]);
    entropies_.push_back(entropy);
  }
}

inline std::string MarkovText::draw(std::size_t count, std::uint64_t stream) const {
  const std::size_t n = options_.characters;
  RandomStream random(RandomKey{options_.seed}.fold(states_ + stream));
  // Returns index i with probability p[i].
  const auto pick = [&random](const double* p, std::size_t size) {
    double left = random.uniform_double();
    std::size_t i = 0;
    while (i + 1 < size && (left -= p[i]) >= 0) ++i;
    return i;
  };
  std::string text;
  std::size_t state = pick(stationary_.data(), states_);
  for (std::size_t digit = states_ / n; digit > 0 && text.size() < count; digit /= n)
    text += static_cast<char>(' ' + state / digit % n);
  while (text.size() < count) {
    const std::size_t c = pick(probabilities_.data() + state * n, n);
    text += static_cast<char>(' ' + c);
    state = (state * n + c) % states_;
  }
  return text;
}

}  // namespace algoperf
