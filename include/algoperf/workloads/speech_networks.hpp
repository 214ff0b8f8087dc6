// Recognisers of strings of spoken digits, and their variants.
#pragma once

#include "../core/tuple.hpp"
#include "../data/speech_fields.hpp"
#include "../data/transforms/spec_augment.hpp"
#include "../nn/layers/gelu.hpp"
#include "../nn/layers/tanh.hpp"
#include "../nn/models/conformer.hpp"
#include "../nn/models/deep_speech.hpp"

namespace algoperf {

struct DigitDeepSpeechTanh;
struct DigitDeepSpeechNoResnet;
struct DigitDeepSpeechNormAndSpecAug;

// A recogniser with 2 LSTMs in both directions and a dense layer of width 32 and dropout 0.1, and AlgoPerf's variants.
// The masks of frequencies are half as wide as AlgoPerf's, because there are half as many bands. AdamW reaches the
// target_error of each network within the workload's step_hint() (benchmarks/workloads_to_target.cpp).
struct DigitDeepSpeech {
  static constexpr const char* name = "deep_speech";
  using Variants = Tuple<DigitDeepSpeechTanh, DigitDeepSpeechNoResnet, DigitDeepSpeechNormAndSpecAug>;
  static constexpr double target_error = 0.02;
  static constexpr DeepSpeech<> model() { return {.dropout = 0.1}; }
  static constexpr SpecAugment masks() { return {.max_frequencies = 13, .hop = SpeechWindow::hop}; }
};
// Hyperbolic tangents instead of ReLUs.
struct DigitDeepSpeechTanh : DigitDeepSpeech {
  using Base = DigitDeepSpeech;
  static constexpr const char* variant = "tanh";
  static constexpr double target_error = 0.022;
  static constexpr DeepSpeech<Tanh> model() { return {.dropout = 0.1}; }
};
// Layers replace their input instead of adding to it.
struct DigitDeepSpeechNoResnet : DigitDeepSpeech {
  using Base = DigitDeepSpeech;
  static constexpr const char* variant = "no_resnet";
  static constexpr double target_error = 0.015;
  static constexpr DeepSpeech<> model() { return {.residual = false, .dropout = 0.1}; }
};
// Layer norms instead of batch norms, and none before the logits; more masks.
struct DigitDeepSpeechNormAndSpecAug : DigitDeepSpeech {
  using Base = DigitDeepSpeech;
  static constexpr const char* variant = "norm_and_spec_aug";
  static constexpr double target_error = 0.045;
  static constexpr DeepSpeech<> model() { return {.layer_norm = true, .dropout = 0.1}; }
  static constexpr SpecAugment masks() {
    return {.time_masks = 15, .frequency_masks = 4, .max_frequencies = 13, .hop = SpeechWindow::hop};
  }
};

struct DigitConformerAttentionTemperature;
struct DigitConformerLayernorm;
struct DigitConformerGelu;

// A recogniser with 2 blocks of attention and convolutions, of width 32, 4 heads and dropout 0.1, and AlgoPerf's
// variants.
struct DigitConformer {
  static constexpr const char* name = "conformer";
  using Variants = Tuple<DigitConformerAttentionTemperature, DigitConformerLayernorm, DigitConformerGelu>;
  static constexpr double target_error = 0.02;
  static constexpr Conformer<> model() { return {.dropout = 0.1}; }
  static constexpr SpecAugment masks() { return DigitDeepSpeech::masks(); }
};
// The output of attention is multiplied by 1.6.
struct DigitConformerAttentionTemperature : DigitConformer {
  using Base = DigitConformer;
  static constexpr const char* variant = "attention_temperature";
  static constexpr Conformer<> model() { return {.attention_temperature = 1.6, .dropout = 0.1}; }
};
// No layer norms at the end of blocks.
struct DigitConformerLayernorm : DigitConformer {
  using Base = DigitConformer;
  static constexpr const char* variant = "layernorm";
  static constexpr double target_error = 0.025;
  static constexpr Conformer<> model() { return {.block_norm = false, .dropout = 0.1}; }
};
// GELU by tanh instead of swish.
struct DigitConformerGelu : DigitConformer {
  using Base = DigitConformer;
  static constexpr const char* variant = "gelu";
  static constexpr double target_error = 0.022;
  static constexpr Conformer<GeluTanh> model() { return {.dropout = 0.1}; }
};

}  // namespace algoperf
