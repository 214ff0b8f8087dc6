// Data parallelism over processes: mpirun -n 4 examples/12_mpi
// [readme
#include <algoperf/algoperf.hpp>
#include <algoperf/combine/group/mpi.hpp>
#include <algoperf/workloads/glyph_digits.hpp>

namespace ap = algoperf;

int main() {
  const ap::GlyphDigits task;
  ap::TrainingLoop loop(task.model(), task.loss(), ap::adamw(),
                        ap::WarmupCosine{.peak = 1e-2, .warmup = 20, .total = 400}, ap::ShuffledEpochs{.batch = 128},
                        ap::Mean{}, ap::Mpi{});
  loop.run(task.train(), ap::Evaluate{task, {.every = 100}}, ap::UntilStep{400}, ap::ProgressBar{});
}
// readme]
