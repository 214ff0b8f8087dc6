#pragma once

#include <string>

#include "../data/readers/text_sequences.hpp"
#include "../data/slice.hpp"
#include "../nn/losses/softmax_cross_entropy.hpp"
#include "../nn/metrics/perplexity.hpp"
#include "../nn/models/lstm_language_model.hpp"
#include "../nn/models/rotary_transformer.hpp"
#include "concept.hpp"
#include "data_root.hpp"
#include "shared_data.hpp"

namespace algoperf {

// The networks of ShakespeareText.
struct ShakespeareTransformer {
  static constexpr const char* name = "shakespeare_lm";
  static constexpr double target_perplexity = 4.85;
  static constexpr std::uint64_t step_hint = 3000;
  static RotaryTransformer model(std::size_t vocabulary, std::size_t context) {
    return {.vocabulary = vocabulary, .context = context};
  }
};
struct ShakespeareRecurrent {
  static constexpr const char* name = "shakespeare_lstm";
  static constexpr double target_perplexity = 5.1;
  static constexpr std::uint64_t step_hint = 3000;
  static LstmLanguageModel model(std::size_t vocabulary, std::size_t context) {
    return {.vocabulary = vocabulary, .context = context, .width = 64, .units = 128};
  }
};

// A language model of the characters of Shakespeare's plays, from `data`/shakespeare/input.txt. An example is a
// sequence of 64 characters, each of which predicts the next one. The first 90 % of the text is for training, then 5 %
// each for validation and testing; one sequence between the parts is left out. The target is a perplexity per
// character, which AdamW reaches within step_hint() steps (benchmarks/workloads_to_target.cpp). A Network has the
// static members name, target_perplexity, step_hint and model(vocabulary, context).
template <class Network>
struct ShakespeareText {
  static constexpr std::size_t context = 64;

  std::string name = Network::name;
  std::string data = data_root();
  double target_perplexity = Network::target_perplexity;
  detail::SharedData<TextSequences> sequences = {};

  auto model() const { return Network::model(load().text().classes(), context); }
  SoftmaxCrossEntropy loss() const { return {}; }
  Perplexity metric() const { return {}; }
  Target target() const { return {target_perplexity, true}; }
  std::uint64_t step_hint() const { return Network::step_hint; }
  std::size_t batch_size() const { return 32; }
  Slice<TextSequences> train() const { return part(0, 18); }
  Slice<TextSequences> validation() const { return part(18, 19); }
  Slice<TextSequences> test() const { return part(19, 20); }

 private:
  const TextSequences& load() const {
    const std::string path = data + "/shakespeare/input.txt";
    const TextSequences& all = sequences("text sequences, " + path, [&] {
      return TextSequences(Text::load(path, {.context = 1}), {.length = context});
    });
    require(all.size() >= 40, path, ": the text has ", all.size(), " sequences of ", context,
            " characters, expected at least 40");
    return all;
  }
  // Returns the part [begin, end) of the sequences, in twentieths.
  Slice<TextSequences> part(std::size_t begin, std::size_t end) const {
    const std::size_t n = load().size();
    return load().subset(begin == 0 ? 0 : n * begin / 20 + 1, n * end / 20);
  }
};

// AlgoPerf's finewebedu_lm in miniature, with 135,554 parameters, and a recurrent model with 111,361 (Shallue et al.
// 2018 train an LSTM on text).
using ShakespeareLm = ShakespeareText<ShakespeareTransformer>;
using ShakespeareLstm = ShakespeareText<ShakespeareRecurrent>;

}  // namespace algoperf
