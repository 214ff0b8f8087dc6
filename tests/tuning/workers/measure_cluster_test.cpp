#include "algoperf/tuning/workers/measure_cluster.hpp"

#include <doctest/doctest.h>

#include <algoperf/combine/group/threads.hpp>
#include <chrono>
#include <cmath>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "../../support/near.hpp"
#include "../../support/sentence.hpp"

using namespace algoperf;

namespace {

// A connection of threads that takes a time of its own: 0.2 ms per message and 10 ns per byte sent.
class SlowConnection final : public Communicator {
 public:
  explicit SlowConnection(Communicator* inner) : inner_(inner) {}
  std::size_t rank() const override { return inner_->rank(); }
  std::size_t size() const override { return inner_->size(); }
  void exchange(const void* out, std::span<const ByteRange> to, void* in, std::span<const ByteRange> from) override {
    std::size_t bytes = 0;
    for (std::size_t r = 0; r < to.size(); ++r)
      if (r != rank()) bytes += to[r].size;
    std::this_thread::sleep_for(std::chrono::microseconds(200 * (size() - 1)) + std::chrono::nanoseconds(10 * bytes));
    inner_->exchange(out, to, in, from);
  }

 private:
  std::unique_ptr<Communicator> inner_;
};

}  // namespace

TEST_CASE("the measured network has the connection's latency and bandwidth, on all ranks the same") {
  for (const unsigned count : {2u, 3u}) {
    std::mutex mutex;
    std::vector<Cluster> found;
    run_ranks(count, [&](Threads group) {
      const Ranks ranks(new SlowConnection(group.connect()));
      const Cluster mine = measure_network(ranks, 1000000);
      const std::lock_guard lock(mutex);
      found.push_back(mine);
    });
    REQUIRE(found.size() == count);
    for (const Cluster& each : found) {
      CHECK(each.latency == found[0].latency);
      CHECK(each.bandwidth == found[0].bandwidth);
      CHECK(each.processors == HUGE_VAL);
    }
    // Sleeping and the threads take more time, never less.
    CHECK(found[0].latency.value >= 2e-4);
    CHECK(found[0].exchange(Bytes(1000000), static_cast<double>(count)).value >= 1e-2);
  }
}

TEST_CASE("processors: ranks that take turns count as one, and ranks that sleep at the same time as all") {
  std::mutex turn;
  const auto sleep = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  run_ranks(3, [&](Threads group) {
    const Ranks ranks(group.connect());
    const double one = measure_processors(ranks, 0.02, [&] {
      const std::lock_guard lock(turn);
      sleep();
    });
    CHECK(one >= 1);
    CHECK(one < 2);  // more than 1 if a rank starts its clock after another one has begun to sleep
    // 3 ranks * 2 s / 20 ms, if sleeping takes no longer than it should.
    const double processors = measure_processors(ranks, 2, sleep);
    CHECK(processors <= 300);
    CHECK(processors > 2);
  });
}

TEST_CASE("the bandwidth of adasum_pair is finite") {
  const double found = measure_pairing(100000).value;
  CHECK(found > 0);
  CHECK(found < 1e13);
  CHECK(sentence([] { measure_pairing(0); }) == "measure_pairing: the vectors have 0 elements, expected more");
}

TEST_CASE("measurements of a cluster refuse what cannot be measured") {
  const Ranks alone;
  CHECK(sentence([&] { measure_network(alone, 4); }) == "measure_network: there is one rank, expected at least 2");
  CHECK(sentence([&] { measure_processors(alone, 0, [] {}); }) ==
        "measure_processors: work took 0 s, expected more than 0");
  run_ranks(2, [](Threads group) {
    const Ranks two(group.connect());
    CHECK(sentence([&] { measure_network(two, 0); }) == "measure_network: the vector has 0 bytes, expected more");
  });
}
