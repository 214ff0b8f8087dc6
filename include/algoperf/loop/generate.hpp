// generate(): continues a sequence of tokens with a language model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../core/error.hpp"
#include "../core/finite.hpp"
#include "../core/math.hpp"
#include "../core/random.hpp"

namespace algoperf {

struct GenerateOptions {
  std::size_t count = 100;  // tokens to generate
  double temperature = 1;   // divides the logits; 0 selects the most probable token
  std::uint64_t seed = 1;
};

namespace detail {

// Draws an index with probabilities proportional to exp(logits / temperature).
template <class S>
std::size_t sample_index(const S* logits, std::size_t n, double temperature, RandomStream& random) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < n; ++i)
    if (logits[i] > logits[best]) best = i;
  if (temperature == 0) return best;
  const auto weight = [&](std::size_t i) {
    return math::exp((static_cast<double>(logits[i]) - static_cast<double>(logits[best])) / temperature);
  };
  double total = 0;
  for (std::size_t i = 0; i < n; ++i) total += weight(i);
  double left = random.uniform_double() * total;
  for (std::size_t i = 0; i < n; ++i)
    if (left -= weight(i); left < 0) return i;
  return best;
}

}  // namespace detail

// Returns `options.count` tokens that continue `tokens`, each drawn from the model's probabilities of the next token.
// The model is causal, with a field "input" of `context` tokens and logits for each position, such as
// RotaryTransformer. It reads at most the last `context` tokens. While all tokens fit into the context, each one,
// including those of the prompt, costs a step of a Decoder. After that, the positions of the tokens change with every
// step, and each new token costs a pass over `context` tokens. So does every new token if the model cannot decode.
//   Predictor predictor(RotaryTransformer{.vocabulary = 65}, {}, 1);
//   load_evaluation_values("best.checkpoint", predictor);
//   text.decode(generate(predictor, text.encode("ROMEO:"), {.count = 500, .temperature = 0.8}))
// The same predictor, tokens and options give the same result. Throws Error if there are no tokens to continue, a token
// that the model reads is outside the vocabulary, the temperature is negative, a logit is not finite, or the model does
// not predict each token.
template <class Predictor>
std::vector<std::int32_t> generate(Predictor& predictor, const std::vector<std::int32_t>& tokens,
                                   const GenerateOptions& options = {}) {
  require(!tokens.empty(), "generate: there are no tokens to continue, expected at least one");
  require(options.temperature >= 0, "generate: the temperature is ", options.temperature, ", expected at least 0");
  const std::size_t context = predictor.input_size();
  require(predictor.output_rows() == context, "generate: the model has ", predictor.output_rows(),
          " rows of outputs per example, expected one per token, ", context);
  std::vector<std::int32_t> all = tokens, window;
  RandomStream random(RandomKey{options.seed});
  const auto append = [&](const auto* logits, std::size_t vocabulary) {
    for (std::size_t k = 0; k < vocabulary; ++k)
      require(detail::finite_bits(logits[k]), "generate: logit ", k, " of token ", all.size(), " is ", logits[k],
              ", expected a finite number");
    all.push_back(static_cast<std::int32_t>(detail::sample_index(logits, vocabulary, options.temperature, random)));
  };
  const std::size_t wanted = tokens.size() + options.count;
  if (all.size() <= context && options.count > 0 && predictor.decodes()) {
    auto decoder = predictor.decoder({.examples = 1});
    decoder.begin(1);
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) decoder.step({{0, 0, tokens[i]}});
    while (all.size() <= context && all.size() < wanted)
      append(decoder.step({{0, 0, all.back()}}).data(), decoder.output_width());
  }
  while (all.size() < wanted) {
    const std::size_t known = all.size() < context ? all.size() : context;
    window.assign(all.end() - static_cast<std::ptrdiff_t>(known), all.end());
    window.resize(context, 0);  // a causal model does not read what follows
    const auto logits = predictor.predict(window);
    const std::size_t vocabulary = logits.size() / context;
    append(logits.data() + (known - 1) * vocabulary, vocabulary);
  }
  return {all.begin() + static_cast<std::ptrdiff_t>(tokens.size()), all.end()};
}

}  // namespace algoperf
