#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../data/masked_tokens.hpp"
#include "../data/readers/text.hpp"
#include "../nn/losses/softmax_cross_entropy.hpp"
#include "../nn/metrics/perplexity.hpp"
#include "../nn/models/bert.hpp"
#include "../nn/models/scale_invariant_transformer.hpp"
#include "concept.hpp"
#include "data_root.hpp"
#include "shared_data.hpp"

namespace algoperf {

// The networks of ShakespeareMaskedText.
struct ShakespeareBertNetwork {
  static constexpr const char* name = "shakespeare_bert";
  static constexpr double target_perplexity = 5.7;
  static Bert model(std::size_t vocabulary, std::size_t context, std::size_t chosen) {
    return {.vocabulary = vocabulary, .context = context, .chosen = chosen, .init = Init::lecun_normal};
  }
};
struct ShakespeareSibertNetwork {
  static constexpr const char* name = "shakespeare_sibert";
  static constexpr double target_perplexity = 6.3;
  static ScaleInvariantTransformer model(std::size_t vocabulary, std::size_t context, std::size_t chosen) {
    return {.vocabulary = vocabulary, .context = context, .chosen = chosen};
  }
};

// A masked language model of the characters of Shakespeare's plays, from `data`/shakespeare/input.txt. An example is a
// sequence of 32 characters. The model predicts 5 of them, most of which the mask token replaces (MaskedTokens). The
// first 90 % of the sequences are for training, then 5 % each for validation and testing. The target is a perplexity
// per predicted character. AdamW (for the scale-invariant network: SGD with relative clipping) reaches it within
// step_hint() steps (benchmarks/workloads_to_target.cpp). A Network has the static members name, target_perplexity and
// model(vocabulary, context, chosen).
template <class Network>
struct ShakespeareMaskedText {
  static constexpr std::size_t context = 32, chosen = 5;

  std::string name = Network::name;
  std::string data = data_root();
  double target_perplexity = Network::target_perplexity;
  detail::SharedData<MaskedTokens> sequences = {};

  auto model() const { return Network::model(load().classes(), context, chosen); }
  SoftmaxCrossEntropy loss() const { return {}; }
  Perplexity metric() const { return {}; }
  Target target() const { return {target_perplexity, true}; }
  std::uint64_t step_hint() const { return 4000; }
  std::size_t batch_size() const { return 64; }
  MaskedTokens train() const { return part(0, 18); }
  MaskedTokens validation() const { return part(18, 19); }
  MaskedTokens test() const { return part(19, 20); }

 private:
  const MaskedTokens& load() const {
    const std::string path = data + "/shakespeare/input.txt";
    return sequences("masked characters, " + path, [&] {
      const Text text = Text::load(path, {.context = 1});
      return MaskedTokens({text.tokens().begin(), text.tokens().end()},
                          {.vocabulary = text.classes(), .length = context, .chosen = chosen});
    });
  }
  // Returns the part [begin, end) of the sequences, in twentieths.
  MaskedTokens part(std::size_t begin, std::size_t end) const {
    const std::size_t n = load().size();
    return load().subset(n * begin / 20, n * end / 20);
  }
};

// The model that Devlin et al. 2018 train (BERT) in miniature, and one whose outputs do not depend on the scale of its
// parameters, after SIBERT (Li et al. 2022).
using ShakespeareBert = ShakespeareMaskedText<ShakespeareBertNetwork>;
using ShakespeareSibert = ShakespeareMaskedText<ShakespeareSibertNetwork>;

}  // namespace algoperf
