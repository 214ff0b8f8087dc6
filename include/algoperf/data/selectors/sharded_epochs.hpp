// ShardedEpochs: each worker has examples of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../../state/archive.hpp"
#include "../../state/visit_option.hpp"
#include "shuffled_epochs.hpp"

namespace algoperf {

namespace detail {

// Visits the examples of each shard in shuffled epochs.
class ShardStates {
 public:
  // owner: the selector, for messages.
  ShardStates(const char* owner, const std::vector<std::vector<std::uint32_t>>& shards, std::size_t at_once,
              std::uint64_t seed, std::size_t size)
      : owner_(owner) {
    require(!shards.empty(), owner, ": there is no shard");
    for (std::size_t s = 0; s < shards.size(); ++s) {
      require(shards[s].size() >= at_once, owner, ": shard ", s, " has ", shards[s].size(),
              " examples, expected at least the ", at_once, " of a worker's batch");
      for (const std::uint32_t index : shards[s])
        require(index < size, owner, ": shard ", s, " has example ", index, ", expected [0, ", size, ")");
      selectors_.push_back({.batch = at_once, .seed = RandomKey{seed}.fold(s).value, .last = LastBatch::drop});
      states_.push_back(selectors_.back().state(shards[s].size()));
      for (const std::uint32_t index : shards[s]) hash_ = (hash_ ^ index) * 1099511628211u % (std::uint64_t{1} << 52);
    }
  }
  // Adds the next examples of a shard to a selection.
  void add(const std::vector<std::vector<std::uint32_t>>& shards, std::size_t shard, Step step, Selection& to) {
    selectors_[shard].select(states_[shard], step, part_);
    for (const std::uint32_t position : part_.indices) to.indices.push_back(shards[shard][position]);
    to.weights.resize(to.indices.size(), 1.0f);
  }
  template <class Archive>
  void visit(Archive& archive) {
    visit_option(archive, owner_, "hash of the shards", static_cast<double>(hash_));
    for (std::size_t s = 0; s < states_.size(); ++s) visit_scoped(archive, "shard_" + std::to_string(s), states_[s]);
  }

 private:
  const char* owner_;
  std::uint64_t hash_ = 1;
  std::vector<ShuffledEpochs> selectors_;
  std::vector<ShuffledEpochs::State> states_;
  Selection part_;
};

}  // namespace detail

// A batch is `per_shard` examples of each shard, in the order of the shards. With as many workers in the loop's group
// as there are shards, worker w trains on shard w alone; with another number, workers mix shards, which is not checked.
// Each shard is visited in shuffled epochs of its own, whose last examples are skipped if they are fewer than
// per_shard.
//   ShardedEpochs(shards_by_label(labels, 8, 0.3), 16)     with InProcess{.workers = 8}
// state() throws Error if a shard has fewer than per_shard examples or an index out of range.
struct ShardedEpochs {
  std::vector<std::vector<std::uint32_t>> shards;
  std::size_t per_shard;
  std::uint64_t seed;
  std::size_t batch;

  ShardedEpochs(std::vector<std::vector<std::uint32_t>> of_workers, std::size_t examples, std::uint64_t order_seed = 1)
      : shards(std::move(of_workers)), per_shard(examples), seed(order_seed), batch(shards.size() * examples) {}

  using State = detail::ShardStates;
  State state(std::size_t size) const { return {"ShardedEpochs", shards, per_shard, seed, size}; }
  void select(State& state, Step step, Selection& selection) const {
    selection.indices.clear();
    selection.weights.clear();
    for (std::size_t s = 0; s < shards.size(); ++s) state.add(shards, s, step, selection);
  }
};

}  // namespace algoperf
