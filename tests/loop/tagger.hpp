// A model that predicts a tag of each word of a sentence, and sentences of random words, tags and weights.
#pragma once

#include <algoperf/algoperf.hpp>
#include <algorithm>
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

// The mean over the classes of the weighted share of a class's rows that are predicted wrongly.
struct BalancedError {
  static constexpr const char* name = "balanced error";
  static constexpr bool lower_is_better = true;
  struct State {
    std::vector<double> weights, errors;  // of each class
  };

  template <class S>
  void add(State& state, const EvaluatedRows<S, std::int32_t>& rows) const {
    state.weights.resize(rows.width);
    state.errors.resize(rows.width);
    for (std::size_t i = 0; i < rows.rows; ++i) {
      const S* const z = rows.outputs + i * rows.width;
      const auto label = static_cast<std::size_t>(rows.labels[i]);
      state.weights[label] += rows.weight(i);
      if (std::max_element(z, z + rows.width) != z + label) state.errors[label] += rows.weight(i);
    }
  }
  double value(const State& state) const {
    double sum = 0;
    for (std::size_t c = 0; c < state.weights.size(); ++c) sum += state.errors[c] / state.weights[c];
    return sum / static_cast<double>(state.weights.size());
  }
};

}  // namespace algoperf::testing::tagging
