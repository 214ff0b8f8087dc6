// Transformers that translate, and AlgoPerf's variants of them.
//
//   name, or Base and variant    for the names of workloads
//   model(vocabulary)
//   target_bleu                  on Multi30k, which AdamW reaches within step_hint() steps
//                                (benchmarks/workloads_to_target.cpp)
//   Variants                     of a base network: a Tuple of network types
#pragma once

#include <cstddef>

#include "../core/tuple.hpp"
#include "../nn/layers/tanh.hpp"
#include "../nn/models/encoder_decoder.hpp"

namespace algoperf {

struct TranslatorPostLn;
struct TranslatorAttentionTemp;
struct TranslatorGluTanh;

// 2 blocks each in the encoder and the decoder, of width 64, with 4 heads, 64 hidden units and dropout 0.1.
struct Translator {
  static constexpr const char* name = "transformer";
  using Variants = Tuple<TranslatorPostLn, TranslatorAttentionTemp, TranslatorGluTanh>;
  static constexpr double target_bleu = 25;
  static constexpr EncoderDecoder<> model(std::size_t vocabulary) { return {.vocabulary = vocabulary, .dropout = 0.1}; }
};
// Layer norms after the residual connections instead of before the branches.
struct TranslatorPostLn : Translator {
  using Base = Translator;
  static constexpr const char* variant = "post_ln";
  static constexpr double target_bleu = 19;
  static constexpr EncoderDecoder<> model(std::size_t vocabulary) {
    return {.vocabulary = vocabulary, .post_norm = true, .dropout = 0.1};
  }
};
// The scores of attention are multiplied by 4.
struct TranslatorAttentionTemp : Translator {
  using Base = Translator;
  static constexpr const char* variant = "attention_temp";
  static constexpr double target_bleu = 17;
  static constexpr EncoderDecoder<> model(std::size_t vocabulary) {
    return {.vocabulary = vocabulary, .attention_temperature = 4, .dropout = 0.1};
  }
};
// Hyperbolic tangents instead of ReLUs, and gates.
struct TranslatorGluTanh : Translator {
  using Base = Translator;
  static constexpr const char* variant = "glu_tanh";
  static constexpr double target_bleu = 25;
  static constexpr EncoderDecoder<Tanh> model(std::size_t vocabulary) {
    return {.vocabulary = vocabulary, .glu = true, .dropout = 0.1};
  }
};

}  // namespace algoperf
