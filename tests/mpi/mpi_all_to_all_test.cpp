// Workers on the ranks of MPI that send their changes to each other.
#include "algoperf/combine/asynchronous/mpi_all_to_all.hpp"

#include <doctest/doctest.h>

#include <algoperf/combine/group/mpi.hpp>
#include <algoperf/loop/observers/until_another_ends.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../loop/tiny.hpp"
#include "../support/sentence.hpp"

using namespace algoperf;
using namespace algoperf::testing;

namespace {

template <class Rule>
auto exchanging_loop(const Rule& rule, UpdateExchange& exchange, std::size_t most_pending = 16) {
  return TrainingLoop(Tiny::model(), Tiny::loss(), rule, Constant{0.05},
                      ShuffledEpochs{.batch = 32, .seed = exchange.rank()}, Seed{exchange.rank()},
                      MpiAllToAll{&exchange, most_pending});
}

// Returns the largest difference between the parameters of any rank and those of rank 0.
template <class Loop>
double disagreement(const Ranks& world, const Loop& loop) {
  const std::vector<float> mine(loop.values(), loop.values() + loop.layout().size());
  const std::vector<float> all = world.all_gather(mine, std::vector<std::size_t>(world.size(), mine.size()));
  double most = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    most = std::fmax(most, std::fabs(double{all[i]} - double{all[i % mine.size()]}));
  return most;
}

}  // namespace

TEST_CASE("one rank with MpiAllToAll trains as without it") {
  const Ranks world(Mpi{}.connect());
  const Tiny task;
  TrainingLoop alone(Tiny::model(), Tiny::loss(), adamw(), Constant{0.05}, ShuffledEpochs{.batch = 32, .seed = 0},
                     Seed{0});
  alone.run(task.train(), UntilStep{20});
  UpdateExchange exchange(MPI_COMM_SELF);
  auto loop = exchanging_loop(adamw(), exchange);
  loop.run(task.train(), UntilStep{20});
  exchange.settle(loop);
  CHECK(exchange.workers() == 1);
  CHECK(same_values(loop, alone));
  CHECK(exchange.log().applied == 20);
  CHECK(sentence([&] { loop.step(task.train()); }) == "MpiAllToAll: this rank's UpdateExchange has ended");
}

namespace {

// Ranks that take turns train as one process that trains with their rules and batches in turn, where a step changes
// tensors that are not trained by 1 / W of what it would alone.
template <class Net>
void check_turns(const Net& model) {
  const Ranks world(Mpi{}.connect());
  const Tiny task;
  const std::size_t size = world.size(), turns = 4 * size;
  // In one process: a loop for each rank, which takes over the parameters of the one before it.
  using Loop = decltype(TrainingLoop(model, Tiny::loss(), momentum(), Constant{}, ShuffledEpochs{}, Seed{}));
  std::vector<std::unique_ptr<Loop>> loops(size);
  std::vector<float> values;
  for (std::size_t t = 0; t < turns; ++t) {
    auto& loop = loops[t % size];
    if (!loop)
      loop = std::make_unique<Loop>(model, Tiny::loss(), momentum(), Constant{0.05},
                                    ShuffledEpochs{.batch = 32, .seed = t % size}, Seed{0});
    const std::size_t n = loop->layout().size();
    if (t == 0) values.assign(loop->values(), loop->values() + n);
    std::copy(values.begin(), values.end(), loop->values());
    loop->step(task.train());
    for (std::size_t i = 0; i < n; ++i)
      values[i] = i < loop->layout().trained_size()
                      ? loop->values()[i]
                      : values[i] + (loop->values()[i] - values[i]) / static_cast<float>(size);
  }

  UpdateExchange exchange;
  TrainingLoop loop(model, Tiny::loss(), momentum(), Constant{0.05},
                    ShuffledEpochs{.batch = 32, .seed = exchange.rank()}, Seed{exchange.rank()},
                    MpiAllToAll{&exchange});
  for (std::size_t t = exchange.rank(); t < turns; t += size) {
    while (exchange.log().applied < t) exchange.receive(loop);
    loop.step(task.train());
  }
  exchange.settle(loop);
  double most = 0;
  for (std::size_t i = 0; i < values.size(); ++i) most = std::fmax(most, std::fabs(loop.values()[i] - values[i]));
  CHECK(most < 1e-5);
  CHECK(exchange.log().applied == turns);
  CHECK(exchange.log().largest_delay < size);  // changes of different ranks may overtake each other
}

}  // namespace

TEST_CASE("ranks that take turns train as one process") {
  check_turns(Tiny::model());
  check_turns(Model(Shape{28, 28, 1}, Dense{8}, BatchNorm{}, Relu{}, Dense{10}));
}

TEST_CASE("all ranks learn without waiting, and agree when they have settled") {
  const Ranks world(Mpi{}.connect());
  const Tiny task;
  for (const std::size_t most_pending : {std::size_t{1}, std::size_t{16}}) {
    UpdateExchange exchange;
    auto loop = exchanging_loop(sgd(), exchange, most_pending);
    const double before = loop.evaluate(task.validation(), task.metric()).metric;
    loop.run(task.train(), UntilStep{300});
    exchange.settle(loop);
    const AsynchronousLog& log = exchange.log();
    CHECK(disagreement(world, loop) < 1e-4);
    CHECK(loop.evaluate(task.validation(), task.metric()).metric < 0.8 * before);
    CHECK(log.applied == 300 * world.size());
    CHECK(log.dropped == 0);
    CHECK(log.mean_delay <= static_cast<double>(log.largest_delay));
    CHECK(log.seconds > 0);
    CHECK(exchange.another_has_ended() == (world.size() > 1));
  }
}

TEST_CASE("a rank that has reached its end can stop the others") {
  const Ranks world(Mpi{}.connect());
  const Tiny task;
  UpdateExchange exchange;
  auto loop = exchanging_loop(sgd(), exchange);
  const RunReport report =
      loop.run(task.train(), UntilStep{exchange.rank() == 0 ? 20u : 1000000u}, UntilAnotherEnds{&exchange});
  CHECK(report.reason == Control::budget_spent);
  CHECK(loop.steps() < 1000000);
  exchange.settle(loop);
  CHECK(disagreement(world, loop) < 1e-4);
}

namespace {

// Rank 1 breaks a parameter after its third step. All others must then get its failure.
template <class Rule>
void check_divergence(const Rule& rule) {
  const Ranks world(Mpi{}.connect());
  if (world.size() < 2) return;
  const Tiny task;
  std::optional<UpdateExchange> exchange(std::in_place);
  auto loop = exchanging_loop(rule, *exchange);
  const bool broken = exchange->rank() == 1;
  std::string found;
  try {
    loop.run(task.train(), UntilStep{1000000}, AfterStep{[&](std::uint64_t step) {
               if (broken && step == 3) loop.values("2.bias")[0] = NAN;
             }});
  } catch (const RankFailure& failure) {
    found = failure.what();
    CHECK(failure.rank == 1);
    CHECK(failure.diverged);
  } catch (const Diverged& diverged) {
    found = diverged.what();
  }
  const std::string prefix = broken ? "" : "rank 1 of " + std::to_string(world.size()) + ": ";
  CHECK(contains(found, prefix + "training diverged at step 4"));
  exchange.reset();
  (void)world.all_gather(0);
}

}  // namespace

TEST_CASE("a loss that is not finite on one rank ends all") {
  check_divergence(sgd());
  check_divergence(sam(sgd()));
}

TEST_CASE("ranks go on without one that fails, also before its first step") {
  const Ranks world(Mpi{}.connect());
  if (world.size() < 2) return;
  const Tiny task;
  for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{5}}) {
    std::optional<UpdateExchange> exchange(std::in_place);
    auto loop = exchanging_loop(sgd(), *exchange, 2);
    const bool fails = exchange->rank() == 1;
    const std::string found = sentence([&] {
      if (fails && at == 0) fail("there is no data");
      loop.run(task.train(), UntilStep{40}, AfterStep{[&](std::uint64_t step) {
                 if (fails && step == at) fail("the worker is tired");
               }});
      if (world.size() == 2) CHECK(!exchange->another_has_ended());  // rank 1 has left
      exchange->settle(loop);
    });
    CHECK(found == (!fails ? "" : at == 0 ? "there is no data" : "the worker is tired"));
    if (!fails) CHECK(exchange->log().applied == 40 * (world.size() - 1) + at);
    exchange.reset();
    (void)world.all_gather(0);
  }
}

TEST_CASE("rank 0 must begin, models must have the same size, and an exchange serves one loop") {
  const Ranks world(Mpi{}.connect());
  const Tiny task;
  const auto with_exchange = [&](const auto& f) {
    std::optional<UpdateExchange> exchange(std::in_place);
    const std::string found = sentence([&] { f(*exchange); });
    exchange.reset();
    (void)world.all_gather(0);
    return found;
  };
  const bool root = world.is_root();
  const std::string late = with_exchange([&](UpdateExchange& exchange) {
    if (root) fail("there is no data");
    auto loop = exchanging_loop(sgd(), exchange);
    loop.run(task.train(), UntilStep{3});
  });
  CHECK(late == (root ? "there is no data" : "MpiAllToAll: rank 0 has ended before its first step"));

  // Neither a second run nor another loop begins after that, or after the first loop.
  const std::string again = with_exchange([&](UpdateExchange& exchange) {
    if (root) return;
    auto loop = exchanging_loop(sgd(), exchange);
    CHECK(sentence([&] { loop.run(task.train(), UntilStep{3}); }) ==
          "MpiAllToAll: rank 0 has ended before its first step");
    loop.run(task.train(), UntilStep{3});
  });
  CHECK(again == (root ? "" : "MpiAllToAll: this rank's UpdateExchange has ended"));
  const std::string next = with_exchange([&](UpdateExchange& exchange) {
    for (int i = 0; i < 2; ++i) {
      auto loop = exchanging_loop(sgd(), exchange);
      loop.run(task.train(), UntilStep{3});
    }
  });
  CHECK(next == "MpiAllToAll: this UpdateExchange serves another loop");

  const std::string size = with_exchange([&](UpdateExchange& exchange) {
    if (root) {
      auto loop = exchanging_loop(sgd(), exchange);
      loop.run(task.train(), UntilStep{3});
      return exchange.settle(loop);
    }
    TrainingLoop loop(mlp(Shape{28, 28, 1}, {13}, 10), Tiny::loss(), sgd(), Constant{0.05}, ShuffledEpochs{.batch = 32},
                      MpiAllToAll{&exchange});
    loop.run(task.train(), UntilStep{3});
  });
  CHECK((root ? size.empty() : size.starts_with("MpiAllToAll: rank 0 has sent ")));

  const std::string second = with_exchange([&](UpdateExchange& exchange) {
    auto loop = exchanging_loop(sgd(), exchange);
    loop.run(task.train(), UntilStep{3});
    auto other = exchanging_loop(sgd(), exchange);
    other.run(task.train(), UntilStep{3});
  });
  CHECK(second == "MpiAllToAll: this UpdateExchange serves another loop");
  CHECK(sentence([] {
          TrainingLoop(Tiny::model(), Tiny::loss(), sgd(), Constant{0.1}, ShuffledEpochs{}, MpiAllToAll{});
        }) == "MpiAllToAll: there is no UpdateExchange");
}
