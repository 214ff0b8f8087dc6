// shards_by_label: divides examples among workers whose labels differ.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../core/random.hpp"
#include "../core/require.hpp"

namespace algoperf {

namespace detail {

// Returns a Gamma(shape, 1) number. Marsaglia & Tsang 2000; below 1, by Gamma(shape + 1) u^(1 / shape).
inline double draw_gamma(RandomStream& random, double shape) {
  if (shape < 1) {
    const double u = 1 - random.uniform_double();  // in (0, 1]
    return draw_gamma(random, shape + 1) * std::pow(u, 1 / shape);
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = random.normal(), v = std::pow(1 + c * x, 3);
    if (v > 0 && std::log(1 - random.uniform_double()) < x * x / 2 + d * (1 - v + std::log(v))) return d * v;
  }
}

}  // namespace detail

// Returns the labels of a data set of classes, such as InMemory, in the order of its examples.
template <class Data>
std::vector<std::int32_t> labels_of(const Data& data) {
  std::vector<float> input(data.shape().size());
  std::vector<std::int32_t> labels(data.size());
  for (std::uint32_t i = 0; i < labels.size(); ++i) data.gather(&i, 1, input.data(), &labels[i]);
  return labels;
}

// Returns the indices of each worker's examples. The examples of each label are divided in proportions drawn from a
// symmetric Dirichlet distribution: with a large alpha, all workers have all labels in equal parts; with a small one,
// most examples of a label go to one worker. Each example goes to one worker. labels[i] is the label of example i, a
// whole number of at least 0. Workers may have different numbers of examples, even none. The same arguments give the
// same shards. Source: Yurochkin et al. 2019 (arXiv:1905.12022). Throws Error if there are no workers or alpha is not
// positive.
template <class Labels>
std::vector<std::vector<std::uint32_t>> shards_by_label(const Labels& labels, std::size_t workers, double alpha,
                                                        std::uint64_t seed = 1) {
  require(workers >= 1, "shards_by_label: workers is 0, expected at least 1");
  require(alpha > 0 && std::isfinite(alpha), "shards_by_label: alpha is ", alpha, ", expected (0, inf)");
  std::vector<std::vector<std::uint32_t>> of_labels, shards(workers);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto label = static_cast<std::size_t>(labels[i]);
    if (label >= of_labels.size()) of_labels.resize(label + 1);
    of_labels[label].push_back(static_cast<std::uint32_t>(i));
  }
  for (std::size_t label = 0; label < of_labels.size(); ++label) {
    std::vector<std::uint32_t>& examples = of_labels[label];
    RandomStream random(RandomKey{seed}.fold(label));
    for (std::size_t i = examples.size(); i > 1; --i)
      std::swap(examples[i - 1], examples[random.below(static_cast<std::uint32_t>(i))]);
    std::vector<double> ends;  // of the workers' parts
    for (std::size_t w = 0; w < workers; ++w)
      ends.push_back((w == 0 ? 0 : ends.back()) + detail::draw_gamma(random, alpha));
    std::size_t begin = 0;
    for (std::size_t w = 0; w < workers; ++w) {
      const double share =
          ends.back() > 0 ? ends[w] / ends.back() : static_cast<double>(w + 1) / static_cast<double>(workers);
      const auto end =
          w + 1 == workers ? examples.size() : static_cast<std::size_t>(share * static_cast<double>(examples.size()));
      for (; begin < end; ++begin) shards[w].push_back(examples[begin]);
    }
  }
  return shards;
}

}  // namespace algoperf
