// A parameter server and workers that do not wait for each other: mpirun -n 4 examples/13_mpi_server
#include <algoperf/algoperf.hpp>
#include <algoperf/combine/asynchronous/mpi_server.hpp>
#include <algoperf/loop/observers/until_server_ends.hpp>
#include <algoperf/workloads/glyph_digits.hpp>
#include <cstdio>

namespace ap = algoperf;

// [readme
int main() {
  const ap::GlyphDigits task{.target_error = 0.1};
  ap::ParameterServer server;
  ap::TrainingLoop loop(task.model(), task.loss(), ap::momentum(), ap::Constant{0.02},
                        ap::ShuffledEpochs{.batch = 32, .seed = server.rank()}, ap::Seed{server.rank()},
                        ap::MpiServer{.server = &server, .stale = ap::Stale::shrink});
  if (!server.is_server()) {
    loop.run(task.train(), ap::UntilServerEnds{&server});
    return 0;
  }
  const ap::RunReport report =
      loop.run(task.train(), ap::Evaluate{task, {.every = 100}}, ap::UntilTarget{task.target()}, ap::UntilStep{4000});
  const ap::AsynchronousLog& log = server.log();
  std::printf("%s after %llu gradients of %zu workers in %.2f s: error %.3f; delays: mean %.2f, largest %llu\n",
              ap::describe(report.reason), static_cast<unsigned long long>(log.applied), server.workers(), log.seconds,
              report.best.metric, log.mean_delay, static_cast<unsigned long long>(log.largest_delay));
}
// readme]
