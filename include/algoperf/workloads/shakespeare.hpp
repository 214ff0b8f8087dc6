#pragma once

#include <string>

#include "../data/readers/text.hpp"
#include "../data/slice.hpp"
#include "../nn/losses/softmax_cross_entropy.hpp"
#include "../nn/metrics/cross_entropy.hpp"
#include "../nn/models/next_character.hpp"
#include "concept.hpp"
#include "data_root.hpp"
#include "once.hpp"

namespace algoperf {

// Predicts the next character of Shakespeare's plays, from `data`/shakespeare/input.txt: the first 90 % for training,
// then 5 % each for validation and testing. The target is a cross-entropy in nats per character.
struct Shakespeare {
  static constexpr const char* name = "shakespeare";
  static constexpr std::size_t context = 16;

  std::string data = data_root();
  double target_nats = 1.9;
  detail::Once<Text> text = {};

  auto model() const { return next_character(context, load().classes(), {.width = 24, .units = 256}); }
  SoftmaxCrossEntropy loss() const { return {}; }
  CrossEntropy metric() const { return {}; }
  Target target() const { return {target_nats, true}; }
  std::uint64_t step_hint() const { return 4000; }
  Slice<Text> train() const { return part(0, 18); }
  Slice<Text> validation() const { return part(18, 19); }
  Slice<Text> test() const { return part(19, 20); }

 private:
  const Text& load() const {
    return text([this] { return Text::load(data + "/shakespeare/input.txt", {.context = context}); });
  }
  // Returns the part [begin, end) of the text, in twentieths; `context` characters are left out between parts, so that
  // no character is in two parts.
  Slice<Text> part(std::size_t begin, std::size_t end) const {
    const std::size_t n = load().size();
    const std::size_t from = begin == 0 ? 0 : n * begin / 20 + context;
    return {load(), from, n * end / 20};
  }
};

}  // namespace algoperf
