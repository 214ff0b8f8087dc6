// Workers that send their changes to each other and do not wait: mpirun -n 4 examples/14_mpi_all_to_all
#include <algoperf/algoperf.hpp>
#include <algoperf/combine/asynchronous/mpi_all_to_all.hpp>
#include <algoperf/loop/observers/until_another_ends.hpp>
#include <algoperf/workloads/glyph_digits.hpp>
#include <cstdio>

namespace ap = algoperf;

// [readme
int main() {
  const ap::GlyphDigits task{.target_error = 0.1};
  ap::UpdateExchange exchange;
  ap::TrainingLoop loop(task.model(), task.loss(), ap::momentum(), ap::Constant{0.01},
                        ap::ShuffledEpochs{.batch = 32, .seed = exchange.rank()}, ap::Seed{exchange.rank()},
                        ap::MpiAllToAll{&exchange});
  const ap::RunReport report =
      loop.run(task.train(), ap::Evaluate{task, {.every = 100}}, ap::UntilTarget{task.target()}, ap::UntilStep{4000},
               ap::UntilAnotherEnds{&exchange});
  exchange.settle(loop);
  if (exchange.rank() != 0) return 0;
  const ap::AsynchronousLog& log = exchange.log();
  std::printf(
      "%s after %llu steps of %zu workers in %.2f s: error %.3f, %.3f settled; delays: mean %.2f, largest %llu\n",
      ap::describe(report.reason), static_cast<unsigned long long>(log.applied), exchange.workers(), log.seconds,
      report.best.metric, loop.evaluate(task.validation(), task.metric()).metric, log.mean_delay,
      static_cast<unsigned long long>(log.largest_delay));
}
// readme]
