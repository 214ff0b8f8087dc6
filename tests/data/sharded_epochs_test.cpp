#include "algoperf/data/selectors/sharded_epochs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "../support/near.hpp"
#include "../support/sentence.hpp"
#include "algoperf/data/in_memory.hpp"
#include "algoperf/data/shards_by_label.hpp"
#include "algoperf/data/slice.hpp"

namespace ap = algoperf;

namespace {

std::vector<int> cyclic_labels(std::size_t n, int labels) {
  std::vector<int> all;
  for (std::size_t i = 0; i < n; ++i) all.push_back(static_cast<int>(i) % labels);
  return all;
}

// The mean over workers of the share of a worker's examples that have its most frequent label.
double largest_share(const std::vector<std::vector<std::uint32_t>>& shards, const std::vector<int>& labels) {
  double sum = 0;
  for (const auto& shard : shards) {
    std::vector<double> counts(10);
    for (const std::uint32_t i : shard) ++counts[static_cast<std::size_t>(labels[i])];
    sum += *std::max_element(counts.begin(), counts.end()) / static_cast<double>(shard.empty() ? 1 : shard.size());
  }
  return sum / static_cast<double>(shards.size());
}

}  // namespace

TEST_CASE("shards by label: each example goes to one worker, and a small alpha separates the labels") {
  const auto labels = cyclic_labels(2000, 10);
  double before = 0;
  for (const double alpha : {1e4, 1.0, 0.05}) {
    CAPTURE(alpha);
    const auto shards = ap::shards_by_label(labels, 5, alpha, 3);
    REQUIRE(shards.size() == 5);
    std::multiset<std::uint32_t> all;
    for (const auto& shard : shards) all.insert(shard.begin(), shard.end());
    CHECK(all.size() == 2000);
    CHECK(std::set<std::uint32_t>(all.begin(), all.end()).size() == 2000);
    CHECK(shards == ap::shards_by_label(labels, 5, alpha, 3));
    CHECK(shards != ap::shards_by_label(labels, 5, alpha, 4));
    CHECK(largest_share(shards, labels) > before);
    before = largest_share(shards, labels);
    if (alpha == 1e4)
      for (const auto& shard : shards) CHECK(static_cast<double>(shard.size()) == near(400, 0.05));
  }
  CHECK(before > 0.3);  // 0.1 if all workers have all labels
  CHECK(ap::shards_by_label(labels, 1, 0.1)[0].size() == 2000);
  // With a tiny alpha, all examples of a label go to one worker.
  for (const auto& shard : ap::shards_by_label(labels, 8, 1e-4)) CHECK(shard.size() % 200 == 0);
  CHECK(sentence([] {
          ap::shards_by_label(std::vector<int>{3, -1}, 2, 1);
        }) == "shards_by_label: label 1 is -1, expected at least 0");
  CHECK(sentence([&] { ap::shards_by_label(labels, 0, 1); }) == "shards_by_label: workers is 0, expected at least 1");
  CHECK(sentence([&] { ap::shards_by_label(labels, 2, 0); }) == "shards_by_label: alpha is 0, expected (0, inf)");
}

TEST_CASE("the labels of a data set") {
  const ap::InMemory<float> data({1, 2, 3, 4, 5, 6}, {2, 0, 1}, ap::Shape{2}, 3);
  CHECK(ap::labels_of(data) == std::vector<std::int32_t>{2, 0, 1});
  CHECK(ap::labels_of(data.subset(1, 3)) == std::vector<std::int32_t>{0, 1});
}

TEST_CASE("the gamma numbers of a Dirichlet distribution have its mean and variance") {
  for (const double shape : {0.3, 1.0, 4.5}) {
    CAPTURE(shape);
    ap::RandomStream random(ap::RandomKey{11});
    double sum = 0, squares = 0;
    constexpr int n = 40000;
    for (int i = 0; i < n; ++i) {
      const double x = std::exp(ap::detail::draw_log_gamma(random, shape));
      sum += x, squares += x * x;
    }
    const double mean = sum / n;
    CHECK(mean == near(shape, 0.03));
    CHECK(squares / n - mean * mean == near(shape, 0.06));
  }
}

TEST_CASE("sharded epochs: equal parts of each shard, each example once per epoch of its shard") {
  const std::vector<std::vector<std::uint32_t>> shards{{0, 1, 2, 3, 4, 5}, {10, 11, 12, 13, 14}};
  const ap::ShardedEpochs selector(shards, 2, 7);
  CHECK(selector.batch == 4);
  auto state = selector.state(20);
  ap::Selection selection;
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::multiset<std::uint32_t> seen;
    for (std::uint64_t t = 1; t <= 3; ++t) {
      selector.select(state, {t, 0}, selection);
      REQUIRE(selection.indices.size() == 4);
      CHECK(selection.weights == std::vector<float>(4, 1));
      for (std::size_t i = 0; i < 4; ++i) CHECK((selection.indices[i] >= 10) == (i >= 2));
      seen.insert(selection.indices.begin(), selection.indices.begin() + 2);
    }
    CHECK(seen == std::multiset<std::uint32_t>(shards[0].begin(), shards[0].end()));
  }
  CHECK(sentence([&] { (void)ap::ShardedEpochs(shards, 6).state(20); }) ==
        "ShardedEpochs: shard 1 has 5 examples, expected at least the 6 of a worker's batch");
  CHECK(sentence([&] { (void)selector.state(12); }) == "ShardedEpochs: shard 1 has example 12, expected [0, 12)");
}
