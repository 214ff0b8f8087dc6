#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "../data/readers/text_sequences.hpp"
#include "../data/slice.hpp"
#include "../data/synthetic/markov_text.hpp"
#include "../nn/losses/softmax_cross_entropy.hpp"
#include "../nn/metrics/perplexity.hpp"
#include "../nn/models/rotary_transformer.hpp"
#include "concept.hpp"
#include "shared_data.hpp"

namespace algoperf {

// The model of ShakespeareLm on a synthetic text, a Markov chain of order 2 over 16 characters (MarkovText), whose
// least possible perplexity is known. An example is a sequence of 32 characters. The model predicts the character after
// each of them. There are 12,000 examples for training, 1,000 for validation and 1,000 for testing. The target is a
// perplexity `excess` times the least expected one, exp(MarkovText().best_loss(32)). On the validation text, the true
// probabilities have a perplexity within about 1 % of that (sampling noise).
struct MarkovLm {
  static constexpr std::size_t context = 32;

  std::string name = "markov_lm";
  double excess = 1.03;
  detail::SharedData<TextSequences> sequences = {};

  RotaryTransformer model() const { return {.vocabulary = load().text().classes(), .context = context}; }
  SoftmaxCrossEntropy loss() const { return {}; }
  Perplexity metric() const { return {}; }
  Target target() const { return {excess * std::exp(MarkovText().best_loss(context)), true}; }
  std::uint64_t step_hint() const { return 1500; }
  std::size_t batch_size() const { return 32; }
  Slice<TextSequences> train() const { return load().subset(0, 12000); }
  Slice<TextSequences> validation() const { return load().subset(12000, 13000); }
  Slice<TextSequences> test() const { return load().subset(13000, 14000); }

 private:
  const TextSequences& load() const {
    return sequences("Markov text", [] {
      return TextSequences(Text::from_string(MarkovText().draw(14000 * context + 1)), {.length = context});
    });
  }
};

}  // namespace algoperf
