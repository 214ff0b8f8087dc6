// MaskedTokens: fields, choices, subsets and mistakes.
#include <doctest/doctest.h>

#include <algoperf/data/masked_tokens.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "../support/sentence.hpp"

namespace algoperf::testing::of_masked_tokens {

static_assert(FieldDataset<MaskedTokens> && detail::RandomDataset<MaskedTokens>);

struct Gathered {
  std::vector<std::int32_t> input, position, label;
  Gathered(std::size_t n, std::size_t length, std::size_t chosen)
      : input(n * length), position(n * chosen), label(n * chosen) {}
  template <FieldName name>
  std::int32_t* at() {
    return name.text[0] == 'i' ? input.data() : name.text[0] == 'p' ? position.data() : label.data();
  }
  bool operator==(const Gathered&) const = default;
};
struct To {
  Gathered* to;
  template <FieldName name>
  std::int32_t* at() const {
    return to->template at<name>();
  }
};
template <class... Key>
Gathered gathered(const MaskedTokens& data, const std::vector<std::uint32_t>& indices, Key... key) {
  Gathered to(indices.size(), data.shape("input").size(), data.shape("label").size());
  data.gather(indices.data(), indices.size(), To{&to}, key...);
  return to;
}

// 200 sequences of 20 tokens: token t of sequence i is (i + 3 t) % 50.
MaskedTokens sequences(const MaskedTokensOptions& options = {.vocabulary = 50, .length = 20, .chosen = 3}) {
  std::vector<std::int32_t> tokens;
  for (int i = 0; i < 200; ++i)
    for (int t = 0; t < 20; ++t) tokens.push_back((i + 3 * t) % 50);
  tokens.push_back(0);  // does not fill a sequence
  return MaskedTokens(tokens, options);
}

TEST_CASE("masked tokens: positions ascend, labels are the original tokens, others stay") {
  const MaskedTokens data = sequences();
  CHECK(data.size() == 200);
  CHECK(data.classes() == 51);
  std::vector<std::uint32_t> all(200);
  std::iota(all.begin(), all.end(), 0u);
  const Gathered to = gathered(data, all, RandomKey{5});
  std::vector<int> chosen(20);
  double masked = 0, random = 0;
  for (std::size_t i = 0; i < 200; ++i) {
    std::vector<bool> is_chosen(20);
    for (std::size_t k = 0; k < 3; ++k) {
      const auto t = static_cast<std::size_t>(to.position[i * 3 + k]);
      REQUIRE(t < 20);
      CHECK((k == 0 || to.position[i * 3 + k - 1] < to.position[i * 3 + k]));
      is_chosen[t] = true;
      ++chosen[t];
      CHECK(to.label[i * 3 + k] == static_cast<std::int32_t>((i + 3 * t) % 50));
      const std::int32_t now = to.input[i * 20 + t];
      CHECK((now >= 0 && now <= 50));
      masked += now == 50;
      random += now != 50 && now != to.label[i * 3 + k];
    }
    for (std::size_t t = 0; t < 20; ++t)
      if (!is_chosen[t]) CHECK(to.input[i * 20 + t] == static_cast<std::int32_t>((i + 3 * t) % 50));
  }
  // Four standard deviations of the binomial distribution of 600 choices; 1 of 50 random tokens is the original.
  const auto expect = [](double count, double p) {
    CHECK(std::abs(count - 600 * p) < 4 * std::sqrt(600 * p * (1 - p)));
  };
  expect(masked, 0.8);
  expect(random, 0.1 * 0.98);
  for (const int count : chosen) CHECK(std::abs(count - 30) < 4 * std::sqrt(30 * 0.85));
}

TEST_CASE("masked tokens: steps differ, evaluations do not, subsets share the choices of the whole") {
  const MaskedTokens data = sequences();
  CHECK(gathered(data, {3, 4}) == gathered(data, {3, 4}));
  CHECK(gathered(data, {3}).position != gathered(data, {4}).position);  // sequences have choices of their own
  CHECK(gathered(data, {4}) == gathered(data.subset(4, 9), {0}));
  CHECK(gathered(data.subset(2, 9), {2}) == gathered(data.subset(2, 9).subset(1, 5), {1}));
  CHECK(gathered(data, {3, 4}, RandomKey{1}) == gathered(data, {3, 4}, RandomKey{1}));
  CHECK(gathered(data, {3, 4}, RandomKey{1}) != gathered(data, {3, 4}, RandomKey{2}));
  MaskedTokensOptions other{.vocabulary = 50, .length = 20, .chosen = 3};
  other.seed = 2;
  CHECK(gathered(data, {3, 4}) != gathered(sequences(other), {3, 4}));
  // All tokens of a sequence may be chosen.
  const Gathered all =
      gathered(sequences({.vocabulary = 50, .length = 20, .chosen = 20, .masked = 1, .random = 0}), {0});
  CHECK(std::count(all.input.begin(), all.input.end(), 50) == 20);
}

TEST_CASE("masked tokens: mistakes") {
  const auto made = [](MaskedTokensOptions options, std::vector<std::int32_t> tokens = {0, 1, 2, 3}) {
    return sentence([&] { MaskedTokens(std::move(tokens), options); });
  };
  const MaskedTokensOptions good{.vocabulary = 4, .length = 2, .chosen = 1};
  CHECK(made(good).empty());
  CHECK(made(good, {0, 1, 4}) == "MaskedTokens: token 2 is 4, expected [0, 4)");
  CHECK(made(good, {0, -1}) == "MaskedTokens: token 1 is -1, expected [0, 4)");
  CHECK(made(good, {0}) == "MaskedTokens: there are 1 tokens, expected at least the length of a sequence, 2");
  CHECK(made({.vocabulary = 4, .length = 0}) == "MaskedTokens: length is 0, expected at least 1");
  CHECK(made({.vocabulary = 4, .length = 2, .chosen = 3}) ==
        "MaskedTokens: chosen is 3, expected 1 to the length of a sequence, 2");
  CHECK(made({.vocabulary = 4, .length = 2, .chosen = 0}) ==
        "MaskedTokens: chosen is 0, expected 1 to the length of a sequence, 2");
  CHECK(made({.vocabulary = 4, .length = 2, .chosen = 1, .masked = 0.8, .random = 0.3}) ==
        "MaskedTokens: masked is 0.8 and random is 0.3, expected fractions whose sum is at most 1");
  CHECK(made({.length = 2, .chosen = 1}) == "MaskedTokens: vocabulary is 0, expected 1 to 2147483646");
  CHECK(sentence([] { sequences().subset(3, 201); }) ==
        "MaskedTokens: the range is [3, 201), expected begin <= end <= 200");
}

}  // namespace algoperf::testing::of_masked_tokens
