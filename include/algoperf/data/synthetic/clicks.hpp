// Clicks: synthetic clicks of known probability, for recommendation models without a download.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/random.hpp"
#include "../numbers_and_categories.hpp"

namespace algoperf {

// Each example has `numbers` standard normal inputs x_j and `categories` categorical inputs c_k, each uniform over
// `values` values that belong to category k only. The label is 1 with probability sigmoid(z), where
//   z = bias + sum_j a_j x_j + sum_k e_k[c_k] + sum_(k < l) u_k[c_k] . u_l[c_l]
// a_j and e_k[c] are normal numbers, and u_k[c] is a normal vector of 3 elements: the effects of numbers, of categories
// and of pairs of categories. The token of value v of category k is k values + v. Example i depends only on first + i,
// seed, numbers, categories, values and bias.
struct Clicks {
  std::uint64_t seed = 1;
  std::uint64_t first = 0;
  std::size_t count = 10000;
  std::size_t numbers = 4, categories = 4, values = 50;
  double bias = -1;

  std::size_t tokens() const { return categories * values; }
  NumbersAndCategories draw() const;
  // Returns the probability of label 1 of each example.
  std::vector<double> probabilities() const {
    std::vector<double> all;
    for_each([&](const std::vector<double>&, const std::vector<std::int32_t>&, double z, RandomStream&) {
      all.push_back(1 / (1 + std::exp(-z)));
    });
    return all;
  }
  // Returns the mean conditional entropy of the labels given the inputs, in nats. The true probabilities have this
  // expected loss, and no model has a lower one.
  double best_loss() const;

 private:
  static constexpr std::size_t factors = 3;
  static constexpr std::uint64_t stream_tag = 0x636C69636B73;  // "clicks"

  struct Effects {
    std::vector<double> of_numbers, of_tokens, of_pairs;  // of_pairs: `factors` elements per token
  };
  Effects effects() const {
    require(numbers > 0 && categories > 0 && values > 0 && categories < INT32_MAX / values, "Clicks: numbers is ",
            numbers, ", categories ", categories, " and values ", values,
            ", expected at least 1 each, and categories x values below 2^31 - 1");
    RandomStream random(RandomKey{seed}.fold(stream_tag));
    const auto normals = [&random](std::size_t n, double deviation) {
      std::vector<double> drawn(n);
      for (double& x : drawn) x = deviation * random.normal();
      return drawn;
    };
    return {normals(numbers, 0.5), normals(tokens(), 0.5), normals(tokens() * factors, 0.7)};
  }
  // Calls f(x, tokens, z, random) for each example.
  template <class F>
  void for_each(const F& f) const {
    const Effects of = effects();
    std::vector<double> x(numbers);
    std::vector<std::int32_t> chosen(categories);
    for (std::size_t i = 0; i < count; ++i) {
      RandomStream random(RandomKey{seed}.fold(stream_tag + 1).fold(first + i));
      double z = bias;
      for (std::size_t j = 0; j < numbers; ++j) z += of.of_numbers[j] * (x[j] = random.normal());
      for (std::size_t k = 0; k < categories; ++k) {
        const std::size_t token = k * values + random.below(static_cast<std::uint32_t>(values));
        chosen[k] = static_cast<std::int32_t>(token);
        z += of.of_tokens[token];
        for (std::size_t l = 0; l < k; ++l)
          for (std::size_t t = 0; t < factors; ++t)
            z += of.of_pairs[token * factors + t] * of.of_pairs[static_cast<std::size_t>(chosen[l]) * factors + t];
      }
      f(x, chosen, z, random);
    }
  }
};

inline NumbersAndCategories Clicks::draw() const {
  std::vector<float> all_numbers;
  std::vector<std::int32_t> all_tokens, labels;
  for_each([&](const std::vector<double>& x, const std::vector<std::int32_t>& chosen, double z, RandomStream& random) {
    for (const double number : x) all_numbers.push_back(static_cast<float>(number));
    all_tokens.insert(all_tokens.end(), chosen.begin(), chosen.end());
    labels.push_back(random.uniform_double() * (1 + std::exp(-z)) < 1 ? 1 : 0);
  });
  return NumbersAndCategories({std::move(all_numbers), {numbers}}, {std::move(all_tokens), {categories}},
                              {std::move(labels), {1}});
}

inline double Clicks::best_loss() const {
  require(count > 0, "Clicks: count is 0, expected at least 1");
  double total = 0;
  for_each([&](const std::vector<double>&, const std::vector<std::int32_t>&, double z, RandomStream&) {
    // -p log p - (1 - p) log(1 - p) = log(1 + exp(-|z|)) + |z| / (1 + exp(|z|))
    const double size = std::abs(z), e = std::exp(-size);
    total += std::log1p(e) + size * e / (1 + e);
  });
  return total / static_cast<double>(count);
}

}  // namespace algoperf
