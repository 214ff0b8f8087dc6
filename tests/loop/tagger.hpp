// A model that predicts a tag of each word of a sentence, and sentences of random words, tags and weights.
#pragma once

#include <algoperf/algoperf.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace algoperf::testing::tagging {

constexpr std::size_t examples = 40, length = 3, words = 5, tags = 4;

// Values in [-1, 1], the same on every machine.
inline std::vector<float> numbers(std::size_t n, std::uint64_t seed) {
  RandomStream random(RandomKey{seed});
  std::vector<float> values(n);
  for (float& x : values) x = static_cast<float>(random.below(2001)) / 1000.0f - 1.0f;
  return values;
}
inline std::vector<std::int32_t> tokens(std::size_t n, std::uint32_t limit, std::uint64_t seed) {
  RandomStream random(RandomKey{seed});
  std::vector<std::int32_t> values(n);
  for (std::int32_t& x : values) x = static_cast<std::int32_t>(random.below(limit));
  return values;
}

struct Tagger {
  template <class Net>
  constexpr Value operator()(Net& net) const {
    const GraphIndex positions = net.axis("time", length);
    const Value x = net("table", Embedding{.vocabulary = words, .width = 6}, net.tokens("words", {1}, positions));
    return net("out", Dense{.units = tags}, net(Relu{}, x));
  }
};

using Sentences = InMemoryFields<Field<"words", std::int32_t>, Field<"label", std::int32_t>, Field<"weight", float>>;

inline Sentences sentences(std::vector<float> weights = std::vector<float>(examples * length, 1.0f)) {
  return Sentences({tokens(examples * length, words, 1), {length}}, {tokens(examples * length, tags, 2), {length}},
                   {std::move(weights), {length}});
}

}  // namespace algoperf::testing::tagging
