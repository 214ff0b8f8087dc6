#pragma once

#include <cstdint>
#include <string>

#include "../data/synthetic/reversed_sentences.hpp"
#include "../nn/losses/softmax_cross_entropy.hpp"
#include "../nn/metrics/translation_bleu.hpp"
#include "concept.hpp"
#include "shared_data.hpp"
#include "translation_networks.hpp"
#include "variants.hpp"

namespace algoperf {

namespace detail {

struct ReversedSplits {
  TranslationFields train, validation, test;
};

}  // namespace detail

// The model of Multi30k on synthetic pairs, sentences and their reversed translations (ReversedSentences): 20,000 for
// training, 300 for validation and 300 for testing. The metric is the BLEU of greedy translations of the validation
// sentences. The target is 98; the optimum is 100.
template <class Network>
struct ReversedTranslationWorkload {
  std::string name = "reversed_translation_" + detail::network_name<Network>();
  std::string base = "reversed_translation_" + detail::base_network_name<Network>();
  double target_bleu = 98;
  detail::SharedData<detail::ReversedSplits> splits = {};

  auto model() const { return Network::model(ReversedSentences().vocabulary()); }
  SoftmaxCrossEntropy loss() const { return {.label_smoothing = 0.1}; }
  TranslationBleu<ReversedSentences> metric() const { return {ReversedSentences(), {.beams = 1, .longest = 16}}; }
  Target target() const { return {target_bleu, false}; }
  std::uint64_t step_hint() const { return 1500; }
  std::size_t batch_size() const { return 64; }
  TranslationFields train() const { return load().train; }
  TranslationFields validation() const { return load().validation; }
  TranslationFields test() const { return load().test; }
  template <class Visit>
  void each_variant(const Visit& visit) const {
    detail::each_variant<Network>([&]<class V>() { visit(ReversedTranslationWorkload<V>{}); });
  }

 private:
  const detail::ReversedSplits& load() const {
    return splits("reversed sentences", [] {
      const auto pairs = [](std::uint64_t first, std::size_t count) {
        return ReversedSentences{.first = first, .count = count}.draw();
      };
      return detail::ReversedSplits{pairs(0, 20000), pairs(20000, 300), pairs(20300, 300)};
    });
  }
};

using ReversedTranslation = ReversedTranslationWorkload<Translator>;

}  // namespace algoperf
