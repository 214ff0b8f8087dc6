// shards_by_label: divides examples among workers whose labels differ.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../core/random.hpp"

namespace algoperf {

namespace detail {

// Returns the logarithm of a Gamma(shape, 1) number, which may itself be too small for a double. Source: Marsaglia &
// Tsang 2000; below 1, Gamma(shape) is Gamma(shape + 1) u^(1 / shape).
inline double draw_log_gamma(RandomStream& random, double shape) {
  if (shape < 1) {
    const double u = 1 - random.uniform_double();  // in (0, 1]
    return draw_log_gamma(random, shape + 1) + std::log(u) / shape;
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = random.normal(), v = std::pow(1 + c * x, 3);
    if (v > 0 && std::log(1 - random.uniform_double()) < x * x / 2 + d * (1 - v + std::log(v))) return std::log(d * v);
  }
}

// Returns proportions, of sum 1, from a symmetric Dirichlet distribution.
inline std::vector<double> draw_dirichlet(RandomStream& random, std::size_t n, double alpha) {
  std::vector<double> drawn;
  for (std::size_t i = 0; i < n; ++i) drawn.push_back(draw_log_gamma(random, alpha));
  const double largest = *std::max_element(drawn.begin(), drawn.end());
  double sum = 0;
  for (double& each : drawn) sum += each = std::exp(each - largest);
  for (double& each : drawn) each /= sum;
  return drawn;
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
// same shards. Source: Yurochkin et al. 2019 (arXiv:1905.12022). Throws Error if there are no workers, if alpha is not
// positive, or if a label is negative.
template <class Labels>
std::vector<std::vector<std::uint32_t>> shards_by_label(const Labels& labels, std::size_t workers, double alpha,
                                                        std::uint64_t seed = 1) {
  require(workers >= 1, "shards_by_label: workers is 0, expected at least 1");
  require(alpha > 0 && std::isfinite(alpha), "shards_by_label: alpha is ", alpha, ", expected (0, inf)");
  require(labels.size() <= UINT32_MAX, "shards_by_label: there are ", labels.size(), " labels, expected at most ",
          UINT32_MAX);
  std::map<std::uint64_t, std::vector<std::uint32_t>> of_labels;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    require(labels[i] >= 0, "shards_by_label: label ", i, " is ", labels[i], ", expected at least 0");
    of_labels[static_cast<std::uint64_t>(labels[i])].push_back(static_cast<std::uint32_t>(i));
  }
  std::vector<std::vector<std::uint32_t>> shards(workers);
  for (auto& [label, examples] : of_labels) {
    RandomStream random(RandomKey{seed}.fold(label));
    for (std::size_t i = examples.size(); i > 1; --i)
      std::swap(examples[i - 1], examples[random.below(static_cast<std::uint32_t>(i))]);
    const std::vector<double> proportions = detail::draw_dirichlet(random, workers, alpha);
    double share = 0;  // of this worker and those before it
    std::size_t begin = 0;
    for (std::size_t w = 0; w < workers; ++w) {
      share += proportions[w];
      const std::size_t end =
          w + 1 == workers
              ? examples.size()
              : std::min(examples.size(), static_cast<std::size_t>(share * static_cast<double>(examples.size()) + 0.5));
      for (; begin < end; ++begin) shards[w].push_back(examples[begin]);
    }
  }
  return shards;
}

}  // namespace algoperf
