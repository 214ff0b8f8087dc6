// Training on processes: every rank runs this program under mpirun, and any that fails ends the run with its status.
//   mpirun -n 3 test_mpi            the tests
//   mpirun -n 3 test_mpi kill FILE  trains with checkpoints in FILE until rank 1 kills itself
//   mpirun -n 3 test_mpi resume FILE
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <algoperf/combine/group/mpi.hpp>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "../loop/tiny.hpp"

using namespace algoperf;
using namespace algoperf::testing;

namespace {

std::size_t ranks() { return Ranks(Mpi{}.connect()).size(); }
std::size_t rank() { return Ranks(Mpi{}.connect()).rank(); }

template <class Combiner, class Group, class... Observers>
RunReport train(std::vector<float>& values, const Combiner& combiner, const Group& group, std::uint64_t steps,
                Observers&&... observers) {
  auto loop = tiny_loop(adamw(), 0.01, combiner, group);
  const RunReport report = loop.run(Tiny{}.train(), Evaluate{Tiny{}, {.every = 5}}, UntilStep{steps}, observers...);
  values = values_of(loop);
  return report;
}

}  // namespace

TEST_CASE("exchanges of ranges of all sizes, some of them empty") {
  const Ranks all(Mpi{}.connect());
  const std::size_t n = all.size(), me = all.rank();
  // Rank a sends (a + 2 b) % 5 bytes to rank b, of value 16 a + b.
  const auto bytes = [](std::size_t a, std::size_t b) { return (a + 2 * b) % 5; };
  std::string out, in;
  std::vector<ByteRange> to, from;
  for (std::size_t r = 0; r < n; ++r) {
    to.push_back({out.size(), bytes(me, r)});
    out += std::string(bytes(me, r), static_cast<char>(16 * me + r));
    from.push_back({in.size(), bytes(r, me)});
    in += std::string(bytes(r, me), '?');
  }
  all.exchange(out.data(), to, in.data(), from);
  for (std::size_t r = 0; r < n; ++r)
    CHECK(in.substr(from[r].begin, from[r].size) == std::string(bytes(r, me), static_cast<char>(16 * r + me)));
}

TEST_CASE("ranks are numbered on their machine") {
  CHECK(local_rank(Mpi{}) == rank());  // tests run on one machine
  MPI_Comm even_and_odd = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, static_cast<int>(rank() % 2), 0, &even_and_odd);
  CHECK(local_rank(Mpi{.communicator = even_and_odd}) == rank() / 2);
  MPI_Comm_free(&even_and_odd);
}

TEST_CASE_TEMPLATE("processes have the bits of as many workers in one process", C, Mean, Adasum<Of::gradients>,
                   Adasum<Of::updates>) {
  std::vector<float> expected, found;
  const RunReport alone = train(expected, C{}, InProcess{.workers = ranks()}, 12);
  const RunReport report = train(found, C{}, Mpi{}, 12);
  CHECK(same_bits(found, expected));
  CHECK(report.last.loss == alone.last.loss);
  CHECK(report.best.metric == alone.best.metric);
}

TEST_CASE("hierarchical Adasum in 16 bits on processes has the bits of one process") {
  for (const VectorFormat format : {VectorFormat::full, VectorFormat::bfloat16}) {
    const Adasum<Of::gradients> combiner{.per_node = ranks() % 2 == 0 ? 2u : 1u, .format = format};
    std::vector<float> expected, found;
    train(expected, combiner, InProcess{.workers = ranks()}, 12);
    train(found, combiner, Mpi{}, 12);
    CHECK(same_bits(found, expected));
  }
}

TEST_CASE("an exception on one process ends all with one sentence") {
  const std::size_t last = ranks() - 1, me = rank();
  std::vector<float> values;
  const std::string found = sentence([&] {
    train(values, Mean{}, Mpi{}, 12, AfterStep{[&](std::uint64_t step) {
            if (me == last && step == 4) fail("out of ideas");
          }});
  });
  const std::string where = "rank " + std::to_string(last) + " of " + std::to_string(last + 1);
  CHECK(found == (last == 0 ? "out of ideas" : where + ": out of ideas"));
  // The group still works.
  train(values, Mean{}, Mpi{}, 2);
  CHECK(!values.empty());
}

int main(int count, char** arguments) {
  const std::string mode = count > 2 ? arguments[1] : "";
  if (mode.empty()) return doctest::Context(count, arguments).run();
  std::vector<float> values;
  const std::string path = arguments[2];
  if (mode == "kill")
    train(values, Mean{}, Mpi{}, 1000000, Checkpoints(path, {.every = 10}),
          AfterStep{[me = rank()](std::uint64_t step) {
            if (me == 1 && step == 35) std::raise(SIGKILL);
          }});
  const RunReport report = train(values, Mean{}, Mpi{}, 50, Checkpoints(path, {.announce = false}));
  if (rank() == 0)
    std::printf("resumed at step %llu, ended at step %llu\n", static_cast<unsigned long long>(report.resumed_at),
                static_cast<unsigned long long>(report.last.now.t));
}
