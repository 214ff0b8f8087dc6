#pragma once

#include <string>

#include "../data/readers/text_sequences.hpp"
#include "../data/slice.hpp"
#include "../nn/losses/softmax_cross_entropy.hpp"
#include "../nn/metrics/perplexity.hpp"
#include "../nn/models/rotary_transformer.hpp"
#include "concept.hpp"
#include "data_root.hpp"
#include "shared_data.hpp"

namespace algoperf {

// A language model of the characters of Shakespeare's plays, from `data`/shakespeare/input.txt: AlgoPerf's
// finewebedu_lm in miniature, with 135,554 parameters. An example is a sequence of 64 characters, each of which
// predicts the next one. The first 90 % of the text is for training, then 5 % each for validation and testing; one
// sequence between the parts is left out. The target is a perplexity per character, which AdamW reaches within
// step_hint() steps (benchmarks/workloads_to_target.cpp).
struct ShakespeareLm {
  static constexpr std::size_t context = 64;

  std::string name = "shakespeare_lm";
  std::string data = data_root();
  double target_perplexity = 4.85;
  detail::SharedData<TextSequences> sequences = {};

  RotaryTransformer model() const { return {.vocabulary = load().text().classes(), .context = context}; }
  SoftmaxCrossEntropy loss() const { return {}; }
  Perplexity metric() const { return {}; }
  Target target() const { return {target_perplexity, true}; }
  std::uint64_t step_hint() const { return 3000; }
  std::size_t batch_size() const { return 32; }
  Slice<TextSequences> train() const { return part(0, 18); }
  Slice<TextSequences> validation() const { return part(18, 19); }
  Slice<TextSequences> test() const { return part(19, 20); }

 private:
  const TextSequences& load() const {
    const std::string path = data + "/shakespeare/input.txt";
    return sequences("text sequences, " + path,
                     [&] { return TextSequences(Text::load(path, {.context = 1}), {.length = context}); });
  }
  // Returns the part [begin, end) of the sequences, in twentieths.
  Slice<TextSequences> part(std::size_t begin, std::size_t end) const {
    const std::size_t n = load().size();
    return load().subset(begin == 0 ? 0 : n * begin / 20 + 1, n * end / 20);
  }
};

}  // namespace algoperf
