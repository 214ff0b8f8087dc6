#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "../data/readers/sentence_pairs.hpp"
#include "../data/translation_fields.hpp"
#include "../nn/losses/softmax_cross_entropy.hpp"
#include "../nn/metrics/translation_bleu.hpp"
#include "concept.hpp"
#include "data_root.hpp"
#include "shared_data.hpp"
#include "translation_networks.hpp"
#include "variants.hpp"

namespace algoperf {

namespace detail {

struct TranslationSplits {
  Subwords subwords;
  TranslationFields train, validation, test;
};

}  // namespace detail

// AlgoPerf's wmt in miniature: captions of images in German, and their translations into English (Multi30k, Elliott et
// al. 2016, arXiv:1605.00459), from the files train, val and test_2016_flickr with the endings .de and .en, plain or
// gzipped, in `data`/multi30k. Training uses the first `pairs` of 29,000. Both languages share a vocabulary of at most
// `vocabulary` subwords, learned from the training pairs. The labels are smoothed. The target is the BLEU of the
// validation sentences, translated by beam search with `beams` hypotheses into at most 48 tokens.
// Departures from AlgoPerf: byte pairs instead of SentencePiece's unigrams, and those of EncoderDecoder.
template <class Network>
struct Multi30kWorkload {
  std::string name = "multi30k_" + detail::network_name<Network>();
  std::string base = "multi30k_" + detail::base_network_name<Network>();
  std::string data = data_root();
  std::size_t pairs = 29000, vocabulary = 2000, beams = 4;
  double target_bleu = Network::target_bleu;
  detail::SharedData<detail::TranslationSplits> splits = {};

  auto model() const { return Network::model(load().subwords.size()); }
  SoftmaxCrossEntropy loss() const { return {.label_smoothing = 0.1}; }
  TranslationBleu<Subwords> metric() const { return {load().subwords, {.beams = beams, .longest = 48}}; }
  Target target() const { return {target_bleu, false}; }
  std::uint64_t step_hint() const { return 3000; }
  std::size_t batch_size() const { return 64; }
  TranslationFields train() const { return load().train; }
  TranslationFields validation() const { return load().validation; }
  TranslationFields test() const { return load().test; }
  // The subwords of both languages.
  const Subwords& subwords() const { return load().subwords; }
  template <class Visit>
  void each_variant(const Visit& visit) const {
    detail::each_variant<Network>([&]<class V>() {
      visit(Multi30kWorkload<V>{.data = data, .pairs = pairs, .vocabulary = vocabulary, .beams = beams});
    });
  }

 private:
  const detail::TranslationSplits& load() const {
    const std::string folder = data + "/multi30k/";
    return splits(std::to_string(pairs) + " pairs, " + std::to_string(vocabulary) + " subwords, " + folder, [&] {
      SentencePairs train = load_sentence_pairs(folder + "train.de", folder + "train.en");
      require(pairs > 0 && pairs <= train.size(), "Multi30k: pairs is ", pairs, ", expected 1 to ", train.size());
      train.source.resize(pairs);
      train.target.resize(pairs);
      std::vector<std::string> sentences = train.source;
      sentences.insert(sentences.end(), train.target.begin(), train.target.end());
      const Subwords subwords(sentences, vocabulary);
      const auto fields = [&](const SentencePairs& of) { return translation_fields(of.source, of.target, subwords); };
      const auto read = [&](const std::string& file) {
        return fields(load_sentence_pairs(folder + file + ".de", folder + file + ".en"));
      };
      return detail::TranslationSplits{subwords, fields(train), read("val"), read("test_2016_flickr")};
    });
  }
};

using Multi30k = Multi30kWorkload<Translator>;

}  // namespace algoperf
