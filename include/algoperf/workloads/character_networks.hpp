// Networks that predict a character from the characters before it, and their variants for held-out workloads.
//
//   name, or Base and variant    for the names of workloads: "mlp", "mlp_gelu"
//   model(context, vocabulary)
//   Variants                     of a base network: a Tuple of network types
//   shakespeare_nats             target on Shakespeare, found by find_target
//   step_hint
#pragma once

#include <cstddef>
#include <cstdint>

#include "../core/tuple.hpp"
#include "../nn/layers/gelu.hpp"
#include "../nn/models/next_character.hpp"

namespace algoperf {

struct CharacterMlpGelu;
struct CharacterMlpPostLn;
struct CharacterMlpNoResnet;
struct CharacterMlpModelSize;
struct CharacterMlpEmbedInit;

// The next-character model with embeddings of 24 elements and hidden layers of 256 units.
struct CharacterMlp {
  static constexpr const char* name = "mlp";
  using Variants =
      Tuple<CharacterMlpGelu, CharacterMlpPostLn, CharacterMlpNoResnet, CharacterMlpModelSize, CharacterMlpEmbedInit>;
  static constexpr double shakespeare_nats = 1.896;
  static constexpr std::uint64_t step_hint = 2667;
  static constexpr auto model(std::size_t context, std::size_t vocabulary) {
    return next_character(context, vocabulary, {.width = 24, .units = 256});
  }
};
// GELUs instead of ReLUs.
struct CharacterMlpGelu : CharacterMlp {
  using Base = CharacterMlp;
  static constexpr const char* variant = "gelu";
  static constexpr double shakespeare_nats = 1.863;
  static constexpr auto model(std::size_t context, std::size_t vocabulary) {
    return next_character<Gelu>(context, vocabulary, {.width = 24, .units = 256});
  }
};
// The layer norm comes after the residual connection instead of before the block's dense layer.
struct CharacterMlpPostLn : CharacterMlp {
  using Base = CharacterMlp;
  static constexpr const char* variant = "post_ln";
  static constexpr double shakespeare_nats = 1.899;
  static constexpr auto model(std::size_t context, std::size_t vocabulary) {
    constexpr Dense hidden{.units = 256};
    return Model(Shape{context}, Embedding{.vocabulary = vocabulary, .width = 24}, Flatten{}, hidden, Relu{},
                 Residual(hidden, Relu{}), LayerNorm{},
                 Dense{.units = vocabulary, .init = Init::lecun_normal, .output_layer = true});
  }
};
// The block has no residual connection.
struct CharacterMlpNoResnet : CharacterMlp {
  using Base = CharacterMlp;
  static constexpr const char* variant = "no_resnet";
  static constexpr double shakespeare_nats = 1.881;
  static constexpr auto model(std::size_t context, std::size_t vocabulary) {
    constexpr Dense hidden{.units = 256};
    return Model(Shape{context}, Embedding{.vocabulary = vocabulary, .width = 24}, Flatten{}, hidden, Relu{},
                 LayerNorm{}, hidden, Relu{},
                 Dense{.units = vocabulary, .init = Init::lecun_normal, .output_layer = true});
  }
};
// Embeddings of 16 elements and hidden layers of 128 units.
struct CharacterMlpModelSize : CharacterMlp {
  using Base = CharacterMlp;
  static constexpr const char* variant = "model_size";
  static constexpr double shakespeare_nats = 1.960;
  static constexpr auto model(std::size_t context, std::size_t vocabulary) {
    return next_character(context, vocabulary, {.width = 16, .units = 128});
  }
};
// Embeddings start with variance 1 / 24 instead of 1.
struct CharacterMlpEmbedInit : CharacterMlp {
  using Base = CharacterMlp;
  static constexpr const char* variant = "embed_init";
  static constexpr double shakespeare_nats = 1.883;
  static constexpr auto model(std::size_t context, std::size_t vocabulary) {
    constexpr Dense hidden{.units = 256};
    return Model(Shape{context}, Embedding{.vocabulary = vocabulary, .width = 24, .init = Init::lecun_normal},
                 Flatten{}, hidden, Relu{}, Residual(LayerNorm{}, hidden, Relu{}),
                 Dense{.units = vocabulary, .init = Init::lecun_normal, .output_layer = true});
  }
};

}  // namespace algoperf
