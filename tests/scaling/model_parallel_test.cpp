#include "algoperf/scaling/cost/model_parallel.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "../support/near.hpp"

namespace ap = algoperf;

namespace {

std::vector<ap::LayerLoad> loads(const std::vector<double>& memory, const std::vector<double>& time) {
  std::vector<ap::LayerLoad> all;
  for (std::size_t i = 0; i < memory.size(); ++i) all.push_back({ap::Bytes(memory[i]), ap::Seconds(time[i])});
  return all;
}
std::vector<double> numbers(const std::vector<ap::Bytes>& memory) {
  std::vector<double> all;
  for (const ap::Bytes each : memory) all.push_back(each.value);
  return all;
}

}  // namespace

TEST_CASE("layers are split so that the largest stage is smallest") {
  const auto split = ap::split_layers(loads({5, 1, 1, 1, 4, 4}, {1, 1, 1, 1, 1, 1}), 3);
  CHECK(split.first == std::vector<std::size_t>{0, 2, 5, 6});
  CHECK(numbers(split.memory) == std::vector<double>{6, 6, 4});
  CHECK(split.most_memory() == ap::Bytes(6));
  const auto one = ap::split_layers(loads({5, 1}, {2, 3}), 1);
  CHECK(numbers(one.memory) == std::vector<double>{6});
  CHECK(one.step_time() == ap::Seconds(5));
  // All splits have the same largest stage; the fastest is chosen.
  const auto fast = ap::split_layers(loads({9, 1, 1, 1}, {1, 5, 1, 5}), 2);
  CHECK(fast.first == std::vector<std::size_t>{0, 1, 4});
  const auto tie = ap::split_layers(loads({9, 0, 0}, {3, 1, 1}), 2);
  CHECK(tie.first == std::vector<std::size_t>{0, 1, 3});
  const auto late = ap::split_layers(loads({3, 1, 1, 9}, {1, 1, 10, 1}),
                                     3);  // the best split of the first three layers is not part of the best
  CHECK(late.most_memory() == ap::Bytes(9));
  CHECK(late.step_time(1e9).value == near(10, 1e-6));
  CHECK_THROWS_WITH_AS(ap::split_layers(loads({1}, {1}), 2),
                       "split_layers: there are 1 layers for 2 stages, expected at least one layer each", ap::Error);
}

TEST_CASE("a step through stages includes the time to fill the pipeline") {
  const auto split = ap::split_layers(loads({1, 1, 1, 1}, {2, 3, 2, 1}), 4);
  CHECK(split.step_time(1) == ap::Seconds(3 * 4));
  CHECK(split.step_time(12) == ap::Seconds(3 * 15.0 / 12));
  CHECK_THROWS_AS(split.step_time(0), ap::Error);
}

// Hestness et al. 2019, section 6: four stages of 60, 17, 17 and 32 GB, the first of which holds the embedding. With
// the embedding in three shards they are 32, 31, 31 and 32 GB, as printed.
TEST_CASE("sharding an embedding evens out the stages") {
  const std::vector<ap::Bytes> stages{ap::Bytes(60e9), ap::Bytes(17e9), ap::Bytes(17e9), ap::Bytes(32e9)};
  const auto sharded = ap::shard_table(stages, 0, ap::Bytes(42.8e9), 3);
  CHECK(sharded[0].value == near(32e9, 0.02));
  CHECK(sharded[1].value == near(31e9, 0.01));
  CHECK(sharded[2] == sharded[1]);
  CHECK(sharded[3] == stages[3]);
  double before = 0, after = 0;
  for (std::size_t i = 0; i < 4; ++i) before += stages[i].value, after += sharded[i].value;
  CHECK(after == near(before, 1e-12));
  CHECK_THROWS_AS(ap::shard_table(stages, 0, ap::Bytes(70e9), 3), ap::Error);
  CHECK_THROWS_AS(ap::shard_table(stages, 4, ap::Bytes(1), 3), ap::Error);
  CHECK_THROWS_AS(ap::shard_table(stages, 0, ap::Bytes(1), 5), ap::Error);
}
