// Simulated asynchronous workers, and workers with local steps.
#include <doctest/doctest.h>

#include <algoperf/combine/asynchronous/arriving_shards.hpp>
#include <algoperf/combine/asynchronous/asynchronous_all_to_all.hpp>
#include <algoperf/combine/asynchronous/asynchronous_server.hpp>
#include <algoperf/combine/local_steps.hpp>
#include <algorithm>
#include <cmath>
#include <vector>

#include "../golden/asynchronous.hpp"
#include "../loop/tiny.hpp"
#include "../support/near.hpp"

using namespace algoperf;
using namespace algoperf::testing;

namespace {

// The linear regression of make_asynchronous.py.
auto eight_points() {
  std::vector<float> x, y;
  for (int i = 0; i < 8; ++i) {
    x.insert(x.end(), {static_cast<float>(std::sin(i + 1)), static_cast<float>(std::cos(2 * i + 1))});
    y.push_back(static_cast<float>(0.5 * std::sin(i + 1) - 0.25 * std::cos(2 * i + 1) + 0.1 * std::sin(3 * i)));
  }
  return InMemoryRegression(x, y, Shape{2});
}

// Trains it from 0 on all eight points at each step, and returns the two weights and the bias.
template <class Rule, class... Tail>
std::vector<double> regression_after(int steps, const Rule& rule, double rate, const Tail&... tail) {
  TrainingLoop loop(Model(Shape{2}, Dense{.units = 1}), MeanSquaredError{}, rule, Constant{rate}, Always(range(0, 8)),
                    Host<double>{}, tail...);
  for (const TensorSpec& tensor : loop.layout())
    for (double& x : loop.values(tensor.name)) x = 0;
  const auto data = eight_points();
  for (int i = 0; i < steps; ++i) loop.step(data);
  return {loop.values("0.weight")[0], loop.values("0.weight")[1], loop.values("0.bias")[0]};
}

const WorkerSpeeds three_workers{.workers = 3, .stragglers = 1, .slowdown = 2.5};

template <class Rule, class C>
void check_resumed(const Rule& rule, const C& combiner, std::size_t workers) {
  const TemporaryFile file;
  const Tiny task;
  const auto make = [&] { return tiny_loop(rule, 0.02, combiner, InProcess{workers}); };
  auto whole = make(), first = make(), second = make();
  for (int i = 0; i < 23; ++i) whole.step(task.train());
  for (int i = 0; i < 10; ++i) first.step(task.train());
  save_checkpoint(file.path(), first);
  load_checkpoint(file.path(), second);
  for (int i = 0; i < 13; ++i) second.step(task.train());
  CHECK(same_values(whole, second));
}

}  // namespace

TEST_CASE_TEMPLATE("one worker trains as SingleWorker", C, AsynchronousServer, AsynchronousAllToAll, LocalSteps) {
  const auto trained = [](const auto& rule, const auto&... tail) {
    auto loop = tiny_loop(rule, 0.05, tail...);
    for (int i = 0; i < 7; ++i) loop.step(Tiny{}.train());
    return values_of(loop);
  };
  C combiner;
  if constexpr (requires { combiner.speeds; }) combiner.speeds.workers = 1;
  if constexpr (requires { combiner.every; }) combiner.every = 1;
  const auto found = trained(sgd(), combiner, Host<double>{}), expected = trained(sgd(), Host<double>{});
  for (std::size_t i = 0; i < found.size(); ++i) CHECK_UNARY(std::fabs(found[i] - expected[i]) < 1e-13);
}

TEST_CASE("an asynchronous server, all to all, and DiLoCo equal simulations with PyTorch's optimizers") {
  namespace expected = golden::asynchronous;
  const auto check = [](const std::vector<double>& found, const double(&wanted)[3]) {
    for (std::size_t i = 0; i < 3; ++i) CHECK(found[i] == near(wanted[i], 1e-6));  // the data are floats
  };
  AsynchronousLog log;
  check(regression_after(30, sgd(), 0.15,
                         AsynchronousServer{.speeds = three_workers, .stale = Stale::shrink, .log = &log}),
        expected::server);
  CHECK(log.seconds == expected::server_seconds);
  CHECK(log.applied == 30);
  CHECK(log.largest_delay == static_cast<std::uint64_t>(expected::server_largest_delay));
  CHECK(log.mean_delay == near(expected::server_mean_delay, 1e-12));
  check(regression_after(30, sgd(), 0.1, AsynchronousAllToAll{three_workers, 0.75, &log}), expected::all_to_all);
  CHECK(log.seconds == expected::all_to_all_seconds);
  check(regression_after(12, adamw({.weight_decay = 0.1}), 0.05, diloco(3), InProcess{2}), expected::diloco);
}

TEST_CASE("late gradients are applied, shrunk or dropped") {
  AsynchronousLog applied, shrunk, dropped;
  const auto all = regression_after(30, sgd(), 0.15, AsynchronousServer{three_workers, Stale::apply, 0, 0, &applied});
  const auto less = regression_after(30, sgd(), 0.15, AsynchronousServer{three_workers, Stale::shrink, 0, 0, &shrunk});
  const auto none = regression_after(30, sgd(), 0.15, AsynchronousServer{three_workers, Stale::drop, 0, 0, &dropped});
  CHECK(all != less);
  CHECK(less != none);
  CHECK(applied.applied == 30);
  CHECK(dropped.dropped > 0);
  CHECK(dropped.applied + dropped.dropped == 30);
  CHECK(dropped.seconds == applied.seconds);
  // Without stragglers, a gradient's delay is at most the number of the other workers.
  AsynchronousLog equal;
  regression_after(30, sgd(), 0.1, AsynchronousServer{{.workers = 5}, Stale::drop, 0, 0, &equal});
  CHECK(equal.dropped == 0);
  CHECK(equal.largest_delay == 4);
  CHECK(equal.seconds == 6);  // five gradients a second
  regression_after(30, sgd(), 0.1, AsynchronousServer{{.workers = 5}, Stale::drop, 0, 0.5, &equal});
  CHECK(equal.seconds == 9);
}

TEST_CASE("sampled workers: as many compute at a time as the concurrency allows") {
  AsynchronousLog log;
  const WorkerSpeeds ten{.workers = 10, .seed = 3};
  regression_after(40, sgd(), 0.1, AsynchronousServer{ten, Stale::apply, 4, 0, &log});
  CHECK(log.seconds == 10);  // four gradients a second
  CHECK(log.applied == 40);
  CHECK(log.largest_delay <= 6);  // between two of a worker's arrivals, each of three others arrives at most twice
  // If half of the workers are slow, the seconds depend on which are drawn.
  const auto seconds_of = [&](std::uint64_t seed) {
    AsynchronousLog of;
    const WorkerSpeeds half_slow{.workers = 10, .stragglers = 5, .slowdown = 3, .seed = seed};
    regression_after(400, sgd(), 0.1, AsynchronousServer{half_slow, Stale::apply, 4, 0, &of});
    return of.seconds;
  };
  CHECK(seconds_of(3) == seconds_of(3));
  CHECK(seconds_of(3) != seconds_of(4));
  CHECK(seconds_of(3) == near(200, 0.15));  // steps of two seconds on average
}

TEST_CASE("all to all: the number of missing changes grows with the latency, and a late change still counts") {
  const auto delay_with = [](double latency) {
    AsynchronousLog log;
    regression_after(60, sgd(), 0.05, AsynchronousAllToAll{{.workers = 4}, latency, &log});
    return log.mean_delay;
  };
  CHECK(delay_with(0) < delay_with(1.5));
  CHECK(delay_with(1.5) < delay_with(3.5));
  // The problem is so easy that all find its solution, whose gradient is 0.
  const auto near_by = regression_after(3000, sgd(), 0.05, AsynchronousAllToAll{{.workers = 4}, 0});
  const auto far_off = regression_after(3000, sgd(), 0.05, AsynchronousAllToAll{{.workers = 4}, 3.5});
  for (std::size_t i = 0; i < 3; ++i) CHECK(far_off[i] == near(near_by[i], 1e-6));
}

TEST_CASE("local steps: averages of workers that train apart") {
  const Tiny task;
  // SGD with an average after each step is data parallelism.
  const auto after = [&](const auto& combiner, int steps) {
    auto loop = tiny_loop(sgd(), 0.05, combiner, InProcess{4}, Host<double>{});
    for (int i = 0; i < steps; ++i) loop.step(task.train());
    return values_of(loop);
  };
  const auto mean = after(Mean{}, 5), each = after(LocalSteps{.every = 1}, 5),
             seldom = after(LocalSteps{.every = 5}, 5);
  double largest = 0;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    CHECK_UNARY(std::fabs(each[i] - mean[i]) < 1e-12);
    largest = larger_or_nan(largest, std::fabs(seldom[i] - mean[i]));
  }
  CHECK(largest > 1e-5);
  CHECK(largest < 0.05);
  CHECK(after(LocalSteps{.every = 5}, 4) == after(LocalSteps{.every = 5}, 0));  // evaluations see the last average
}

TEST_CASE("asynchronous training and local steps resume bit for bit") {
  const WorkerSpeeds speeds{.workers = 4, .spread = 0.4, .stragglers = 1, .slowdown = 3, .seed = 7};
  check_resumed(momentum(), AsynchronousServer{speeds, Stale::shrink}, 1);
  check_resumed(sgd(), AsynchronousServer{speeds, Stale::drop, 2}, 1);
  check_resumed(sgd(), AsynchronousAllToAll{speeds, 1.5}, 1);
  check_resumed(adamw(), diloco(4), 4);
}

TEST_CASE("a checkpoint of other speeds or options is refused") {
  const TemporaryFile file;
  const auto refused = [&](const auto& rule, const auto& saved, const auto& loaded, std::size_t workers = 1) {
    auto first = tiny_loop(rule, 0.02, saved, InProcess{workers}),
         second = tiny_loop(rule, 0.02, loaded, InProcess{workers});
    first.step(Tiny{}.train());
    save_checkpoint(file.path(), first);
    return sentence([&] { load_checkpoint(file.path(), second); });
  };
  const AsynchronousServer server{three_workers};
  CHECK(contains(refused(sgd(), server, AsynchronousServer{three_workers, Stale::drop}),
                 "AsynchronousServer: the archive"));
  CHECK(contains(refused(sgd(), server, AsynchronousServer{{.workers = 3, .stragglers = 1, .slowdown = 3}}),
                 "WorkerSpeeds: the archive is of a run with slowdown 2.5, expected 3"));
  CHECK(contains(refused(sgd(), AsynchronousAllToAll{three_workers}, AsynchronousAllToAll{three_workers, 1}),
                 "latency 0"));
  CHECK(contains(refused(sgd(), LocalSteps{.every = 4}, LocalSteps{.every = 5}, 2), "every 4, expected 5"));
  CHECK(contains(refused(sgd(), LocalSteps{.outer_rate = 0.5}, LocalSteps{}, 2), "outer_rate 0.5, expected 1"));
  CHECK(contains(refused(sgd(), LocalSteps{.outer_momentum = 0.5}, LocalSteps{}, 2), "outer_momentum 0.5, expected 0"));
}

TEST_CASE("a damaged state of asynchronous workers is refused, and the loop is unchanged") {
  const auto refused = [](const auto& combiner, const std::string& array, const std::vector<std::uint64_t>& values) {
    auto loop = tiny_loop(sgd(), 0.02, combiner);
    for (int i = 0; i < 5; ++i) loop.step(Tiny{}.train());
    const StateDict before = state_dict(loop);
    StateDict dict = before;
    for (const StateDict::Array& each : before.arrays())
      if (each.name.ends_with("/asynchronous/" + array)) dict.set(each.name, values);
    const std::string what = sentence([&] { load_state_dict(dict, loop); });
    CHECK(state_dict(loop).arrays() == before.arrays());
    return what;
  };
  const AsynchronousServer server{three_workers};
  CHECK(contains(refused(server, "slots", {0, 1, 3}), "in the archive, worker 2 has slot 3 of 3"));
  CHECK(contains(refused(server, "versions", {9, 0, 0}), "worker 0 has slot 0 of 3 and version 9 of 5"));
  const AsynchronousAllToAll all_to_all{three_workers};
  CHECK(contains(refused(all_to_all, "received", {99, 99, 99}), "a worker has received 99 changes, expected "));
  CHECK(!refused(all_to_all, "changes", {1000000000000}).empty());  // and no memory is allocated for them
}

TEST_CASE("running averages of batch norm stay finite with many asynchronous workers") {
  const Tiny task;
  struct Averages {
    std::vector<double> means, variances;
  };
  const auto train = [&](const auto&... combiner) {
    TrainingLoop loop(Model(Shape{28, 28, 1}, Dense{.units = 6}, BatchNorm{}, Relu{}, Dense{.units = 10}), Tiny::loss(),
                      sgd(), Constant{0}, ShuffledEpochs{.batch = 16}, combiner...);
    for (int i = 0; i < 1500; ++i) loop.step(task.train());
    const auto means = loop.values("1.mean"), variances = loop.values("1.variance");
    return Averages{{means.begin(), means.end()}, {variances.begin(), variances.end()}};
  };
  const Averages alone = train();  // on the same batches
  const auto check = [&](const Averages& averages) {
    REQUIRE(averages.means.size() == 6);
    for (std::size_t i = 0; i < 6; ++i) {
      CHECK(averages.variances[i] == near(alone.variances[i], 0.3));
      CHECK(std::fabs(averages.means[i] - alone.means[i]) < 0.1);
    }
  };
  check(train(AsynchronousServer{{.workers = 40}}));
  check(train(AsynchronousAllToAll{{.workers = 40}}));
}

TEST_CASE("the seconds of synchronous training") {
  CHECK(synchronous_seconds({.workers = 4, .seconds = 2}, 10) == 20);
  CHECK(synchronous_seconds({.workers = 4, .seconds = 2}, 10, 0.5) == 25);
  CHECK(synchronous_seconds({.workers = 4, .seconds = 2}, 10, 0.5, 4) == 21);  // twice in ten steps
  CHECK(synchronous_seconds({.workers = 4, .seconds = 2, .stragglers = 1, .slowdown = 3}, 10) == 60);
  // Waiting at every step for the slowest of 16 workers costs more than waiting after ten steps.
  const WorkerSpeeds varied{.workers = 16, .spread = 0.5};
  const double often = synchronous_seconds(varied, 1000), seldom = synchronous_seconds(varied, 1000, 0, 10);
  CHECK(often > 1.3 * seldom);
  CHECK(seldom > 1000);
  CHECK(synchronous_seconds({.workers = 1, .spread = 0.5}, 20000) == near(20000, 0.02));  // factors of mean 1
}

TEST_CASE("bad options of asynchronous training and local steps") {
  const auto refused = [](const auto& combiner, std::size_t workers = 1) {
    return sentence([&] { tiny_loop(sgd(), 0.1, combiner, InProcess{workers}); });
  };
  CHECK(refused(AsynchronousServer{{.workers = 0}}) == "WorkerSpeeds: workers is 0, expected at least 1");
  CHECK(refused(AsynchronousServer{{.workers = 3}, Stale::apply, 4}) ==
        "AsynchronousServer: concurrency is 4, but there are 3 workers");
  CHECK(refused(AsynchronousServer{{.workers = 2, .stragglers = 3}}) ==
        "WorkerSpeeds: there are 3 stragglers among 2 workers");
  CHECK(contains(refused(AsynchronousAllToAll{{.seconds = 0}}), "seconds is 0"));
  CHECK(contains(refused(AsynchronousAllToAll{{}, -1}), "latency is -1"));
  CHECK(contains(refused(LocalSteps{.every = 0}, 2), "every is 0"));
  CHECK(contains(refused(LocalSteps{.outer_momentum = 1}, 2), "outer_momentum is 1"));
  CHECK(!refused(AsynchronousServer{}, 2).empty());
}

TEST_CASE("workers with examples of their own: each batch belongs to the worker whose gradient arrives") {
  const Tiny task;
  const std::vector<std::vector<std::uint32_t>> shards{range(0, 40), range(40, 90), range(90, 130)};
  const WorkerSpeeds speeds{.workers = 3, .spread = 0.3, .stragglers = 1, .slowdown = 2, .seed = 5};
  const ArrivingShards arriving{shards, 8, speeds};
  auto state = arriving.state(256);
  detail::Arrivals arrivals(speeds, 3, 0);
  Selection selection;
  std::vector<std::size_t> counts(3);
  for (std::uint64_t t = 1; t <= 60; ++t) {
    arriving.select(state, {t, 0}, selection);
    const std::size_t worker = arrivals.next().worker;
    ++counts[worker];
    REQUIRE(selection.indices.size() == 8);
    REQUIRE(selection.weights.size() == 8);
    for (const std::uint32_t i : selection.indices)
      CHECK_UNARY(std::find(shards[worker].begin(), shards[worker].end(), i) != shards[worker].end());
  }
  CHECK(counts[2] < counts[0]);  // the straggler
  CHECK(counts[2] > 5);

  const auto make = [&] {
    const AsynchronousServer server{speeds};
    return TrainingLoop(Tiny::model(), Tiny::loss(), sgd(), Constant{0.05}, arriving_shards(shards, 8, server), server);
  };
  const TemporaryFile file;
  auto whole = make(), first = make(), second = make();
  for (int i = 0; i < 21; ++i) whole.step(task.train());
  for (int i = 0; i < 9; ++i) first.step(task.train());
  save_checkpoint(file.path(), first);
  load_checkpoint(file.path(), second);
  for (int i = 0; i < 12; ++i) second.step(task.train());
  CHECK(same_values(whole, second));

  CHECK(sentence([&] {
          (void)ArrivingShards{shards, 8, {.workers = 4}}.state(256);
        }) == "ArrivingShards: there are 3 shards for 4 workers");
  CHECK(sentence([&] {
          (void)ArrivingShards{shards, 41, speeds}.state(256);
        }) == "ArrivingShards: shard 0 has 40 examples, expected at least the 41 of a worker's batch");
}
