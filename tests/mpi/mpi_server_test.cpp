// A parameter server and its workers on the ranks of MPI.
#include "algoperf/combine/asynchronous/mpi_server.hpp"

#include <doctest/doctest.h>

#include <algoperf/combine/group/mpi.hpp>
#include <algoperf/loop/observers/until_server_ends.hpp>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "../loop/tiny.hpp"
#include "../support/sentence.hpp"

using namespace algoperf;
using namespace algoperf::testing;

namespace {

// The first `size` ranks, in a communicator of their own.
class Ranked {
 public:
  explicit Ranked(int size) : world_(Mpi{}.connect()) {
    const bool in = static_cast<int>(world_.rank()) < size;
    MPI_Comm_split(MPI_COMM_WORLD, in ? 0 : MPI_UNDEFINED, static_cast<int>(world_.rank()), &communicator_);
  }
  ~Ranked() {
    (void)world_.all_gather(0);
    if (has_this()) MPI_Comm_free(&communicator_);
  }
  bool has_this() const { return communicator_ != MPI_COMM_NULL; }
  MPI_Comm communicator() const { return communicator_; }
  const Ranks& world() const { return world_; }

 private:
  Ranks world_;
  MPI_Comm communicator_ = MPI_COMM_NULL;
};

template <class Rule>
auto server_loop(const Rule& rule, ParameterServer& server, Stale stale = Stale::apply) {
  return TrainingLoop(Tiny::model(), Tiny::loss(), rule, Constant{0.05},
                      ShuffledEpochs{.batch = 32, .seed = server.rank()}, MpiServer{&server, stale});
}

}  // namespace

TEST_CASE("a server with one worker trains as one process with the worker's batches") {
  const Ranked two(2);
  if (!two.has_this() || two.world().size() < 2) return;
  const Tiny task;
  TrainingLoop alone(Tiny::model(), Tiny::loss(), adamw(), Constant{0.05}, ShuffledEpochs{.batch = 32, .seed = 1});
  alone.run(task.train(), UntilStep{20});
  ParameterServer server(two.communicator());
  auto loop = server_loop(adamw(), server);
  if (!server.is_server()) {
    const RunReport report = loop.run(task.train(), UntilServerEnds{&server});
    CHECK(report.reason == Control::budget_spent);
    CHECK(server.ended());
    return;
  }
  const RunReport report = loop.run(task.train(), Evaluate{task, {.every = 10}}, UntilStep{20});
  CHECK(report.last.now.t == 20);
  CHECK(same_values(loop, alone));
  CHECK(report.last.loss == alone.last().loss);
  CHECK(server.log().applied == 20);
  CHECK(server.log().dropped == 0);
  CHECK(server.log().largest_delay == 0);
}

TEST_CASE("a server with all ranks learns, and counts gradients and delays") {
  const Ranks world(Mpi{}.connect());
  if (world.size() < 2) {
    CHECK(sentence([] { ParameterServer server; }).find("there is one rank") != std::string::npos);
    return;
  }
  const Tiny task;
  for (const Stale stale : {Stale::apply, Stale::shrink, Stale::drop}) {
    ParameterServer server;
    CHECK(server.workers() == world.size() - 1);
    auto loop = server_loop(sgd(), server, stale);
    if (!server.is_server()) {
      loop.run(task.train(), UntilServerEnds{&server});
      CHECK(server.ended());
      continue;
    }
    const double before = loop.evaluate(task.validation(), task.metric()).metric;
    const RunReport report = loop.run(task.train(), Evaluate{task, {.every = 100}}, UntilStep{300});
    const AsynchronousLog& log = server.log();
    CHECK(log.applied + log.dropped == 300);
    CHECK((stale == Stale::drop || log.dropped == 0));
    CHECK(log.mean_delay <= static_cast<double>(log.largest_delay));
    CHECK(log.largest_delay < 300);
    CHECK(log.seconds > 0);
    if (log.applied > 200) CHECK(report.best.metric < 0.7 * before);
  }
  (void)world.all_gather(0);
}

TEST_CASE("the server goes on without a worker that fails, and ends when none is left") {
  const Ranks world(Mpi{}.connect());
  if (world.size() < 2) return;
  const Tiny task;
  for (const bool all_fail : {false, true}) {
    std::optional<ParameterServer> server(std::in_place);
    auto loop = server_loop(sgd(), *server);
    if (server->is_server()) {
      const std::string found = sentence([&] { loop.run(task.train(), UntilStep{60}); });
      const bool none_left = all_fail || world.size() == 2;
      CHECK(none_left == (found.find("has ended, and no worker is left") != std::string::npos));
      if (!none_left) CHECK(loop.steps() == 60);
    } else {
      const bool fails = all_fail || server->rank() == 1;
      const std::string found = sentence([&] {
        loop.run(task.train(), UntilServerEnds{&*server}, AfterStep{[&](std::uint64_t step) {
                   if (fails && step == 3) fail("the worker is tired");
                 }});
      });
      CHECK(found == (fails ? "the worker is tired" : ""));
    }
    server.reset();
    (void)world.all_gather(0);
  }
}

TEST_CASE("a server that fails ends its workers") {
  const Ranks world(Mpi{}.connect());
  if (world.size() < 2) return;
  const Tiny task;
  for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{5}}) {
    std::optional<ParameterServer> server(std::in_place);
    auto loop = server_loop(sgd(), *server);
    if (server->is_server()) {
      CHECK(sentence([&] {
              if (at == 0) fail("no data");
              loop.run(task.train(), AfterStep{[&](std::uint64_t step) {
                         if (step == at) fail("no space");
                       }});
            }) == (at == 0 ? "no data" : "no space"));
    } else {
      loop.run(task.train(), UntilServerEnds{&*server});
      CHECK(server->ended());
    }
    server.reset();
    (void)world.all_gather(0);
  }
}

TEST_CASE(
    "errors of a server and its workers end all ranks: second gradients, other models, NaN, a worker without a step") {
  const Ranks world(Mpi{}.connect());
  if (world.size() < 2) return;
  const Tiny task;
  // Returns the sentence of each run; `f` runs with a fresh server.
  const auto with_server = [&](const auto& f) {
    std::optional<ParameterServer> server(std::in_place);
    const std::string found = sentence([&] { f(*server); });
    server.reset();
    (void)world.all_gather(0);
    return found;
  };
  const auto run = [&](auto& loop, ParameterServer& server) {
    if (server.is_server())
      loop.run(task.train(), UntilStep{20});
    else
      loop.run(task.train(), UntilServerEnds{&server});
  };
  const bool root = world.is_root();

  // The server throws after it has received a gradient, and before it answers.
  const std::string second = with_server([&](ParameterServer& server) {
    auto loop = server_loop(sam(sgd()), server);
    run(loop, server);
  });
  CHECK(second == (root ? "MpiServer: the rule recomputes gradients, which a server cannot" : ""));

  const std::string size = with_server([&](ParameterServer& server) {
    if (server.is_server()) {
      auto loop = server_loop(sgd(), server);
      return run(loop, server);
    }
    TrainingLoop loop(mlp(Shape{28, 28, 1}, {13}, 10), Tiny::loss(), sgd(), Constant{0.05}, ShuffledEpochs{.batch = 32},
                      MpiServer{&server});
    run(loop, server);
  });
  CHECK(contains(size, root ? "no worker is left" : "MpiServer: rank 0 has sent"));

  const std::string diverged = with_server([&](ParameterServer& server) {
    TrainingLoop loop(Tiny::model(), Tiny::loss(), sgd(), Constant{1e30},
                      ShuffledEpochs{.batch = 32, .seed = server.rank()}, MpiServer{&server});
    run(loop, server);
  });
  CHECK((diverged.empty() ? !root : contains(diverged, "training diverged at step")));

  const std::string early = with_server([&](ParameterServer& server) {
    if (!server.is_server()) fail("there is no data");
    auto loop = server_loop(sgd(), server);
    run(loop, server);
  });
  CHECK(contains(early, root ? "no worker is left" : "there is no data"));

  // A run that does not stop with the server, and a second loop.
  const std::string longer = with_server([&](ParameterServer& server) {
    auto loop = server_loop(sgd(), server);
    loop.run(task.train(), UntilStep{server.is_server() ? 3u : 1000u});
    auto other = server_loop(sgd(), server);
    other.run(task.train(), UntilStep{1});
  });
  CHECK(longer == (root ? "MpiServer: this ParameterServer serves another loop"
                        : "MpiServer: the server has ended; pass the worker's run UntilServerEnds"));
}
