// ArrivingShards: the selector for simulated asynchronous workers that have examples of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../../data/selectors/sharded_epochs.hpp"
#include "arrivals.hpp"

namespace algoperf {

// Batch t consists of examples of the worker whose gradient is the t-th to arrive in AsynchronousServer or
// AsynchronousAllToAll with the same speeds (and concurrency). Each shard is visited as by ShardedEpochs.
// arriving_shards() takes them from the combiner:
//   const AsynchronousServer server{speeds};
//   TrainingLoop(model, loss, sgd(), Constant{0.1}, arriving_shards(shards, 32, server), server)
// state() throws Error if there are other numbers of shards than workers, if a shard has too few examples, or if an
// index is out of range.
struct ArrivingShards {
  std::vector<std::vector<std::uint32_t>> shards;
  std::size_t batch;
  WorkerSpeeds speeds;
  std::size_t concurrency = 0;  // 0: all workers compute at the same time
  double latency = 0;           // of AsynchronousServer
  std::uint64_t seed = 1;

  struct State {
    detail::ShardStates shards;
    detail::Arrivals arrivals;
    template <class Archive>
    void visit(Archive& archive) {
      shards.visit(archive);
      visit_scoped(archive, "arrivals", arrivals);
    }
  };
  State state(std::size_t size) const {
    speeds.check();
    require(shards.size() == speeds.workers, "ArrivingShards: there are ", shards.size(), " shards for ",
            speeds.workers, " workers");
    require(concurrency <= speeds.workers, "ArrivingShards: concurrency is ", concurrency, ", but there are ",
            speeds.workers, " workers");
    return {{"ArrivingShards", shards, batch, seed, size},
            {speeds, concurrency == 0 ? speeds.workers : concurrency, latency}};
  }
  void select(State& state, Step step, Selection& selection) const {
    selection.indices.clear();
    selection.weights.clear();
    state.shards.add(shards, state.arrivals.next().worker, step, selection);
  }
};

// Returns the selector for a combiner, AsynchronousServer or AsynchronousAllToAll. `batch`: examples of a gradient.
template <class Combiner>
ArrivingShards arriving_shards(std::vector<std::vector<std::uint32_t>> shards, std::size_t batch,
                               const Combiner& combiner, std::uint64_t seed = 1) {
  ArrivingShards selector{std::move(shards), batch, combiner.speeds, 0, 0, seed};
  if constexpr (requires { combiner.concurrency; })
    selector.concurrency = combiner.concurrency, selector.latency = combiner.latency;
  return selector;
}

}  // namespace algoperf
