#pragma once

#include <string>

#include "../data/readers/text.hpp"
#include "../data/slice.hpp"
#include "../nn/losses/softmax_cross_entropy.hpp"
#include "../nn/metrics/cross_entropy.hpp"
#include "character_networks.hpp"
#include "concept.hpp"
#include "data_root.hpp"
#include "shared_data.hpp"
#include "variants.hpp"

namespace algoperf {

// Predicts the next character of Shakespeare's plays, from `data`/shakespeare/input.txt: the first 90 % for training,
// then 5 % each for validation and testing. The target is a cross-entropy in nats per character.
template <class Network>
struct ShakespeareWorkload {
  static constexpr std::size_t context = 16;

  std::string name = "shakespeare_" + detail::network_name<Network>();
  std::string base = "shakespeare_" + detail::base_network_name<Network>();
  std::string data = data_root();
  double target_nats = Network::shakespeare_nats;
  detail::SharedData<Text> text = {};

  auto model() const { return Network::model(context, load().classes()); }
  SoftmaxCrossEntropy loss() const { return {}; }
  CrossEntropy metric() const { return {}; }
  Target target() const { return {target_nats, true}; }
  std::uint64_t step_hint() const { return Network::step_hint; }
  Slice<Text> train() const { return part(0, 18); }
  Slice<Text> validation() const { return part(18, 19); }
  Slice<Text> test() const { return part(19, 20); }
  template <class Visit>
  void each_variant(const Visit& visit) const {
    detail::each_variant<Network>([&]<class V>() { visit(ShakespeareWorkload<V>{.data = data}); });
  }

 private:
  const Text& load() const {
    const std::string path = data + "/shakespeare/input.txt";
    return text("text, " + path, [&] { return Text::load(path, {.context = context}); });
  }
  // Returns the part [begin, end) of the text, in twentieths; `context` characters are left out between parts, so that
  // no character is in two parts.
  Slice<Text> part(std::size_t begin, std::size_t end) const {
    const std::size_t n = load().size();
    const std::size_t from = begin == 0 ? 0 : n * begin / 20 + context;
    return {load(), from, n * end / 20};
  }
};

using Shakespeare = ShakespeareWorkload<CharacterMlp>;

}  // namespace algoperf
