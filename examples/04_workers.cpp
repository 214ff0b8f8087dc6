// Data parallelism in one process: a loop with four virtual workers, whose results are combined by their mean or by
// Adasum.
#include <algoperf/algoperf.hpp>
#include <algoperf/workloads/glyph_digits.hpp>
#include <cstdio>
namespace ap = algoperf;

template <class Combiner>
void train(const char* name, const ap::GlyphDigits& task, Combiner combiner) {
  ap::TrainingLoop loop(task.model(), task.loss(), ap::adamw(), ap::Constant{1e-3},
                        ap::ShuffledEpochs{.batch = 256, .seed = 1}, combiner, ap::InProcess{.workers = 4});
  const auto end = loop.run(task.train(), ap::Evaluate(task, {.every = 50}), ap::UntilStep{200});
  std::printf("%-8s validation error %.4f after 200 steps of 4 x 64 examples\n", name, end.best.metric);
}

int main() {
  const ap::GlyphDigits task;
  task.train();  // rendered once and shared by both runs
  train("mean", task, ap::Mean{});
  train("adasum", task, ap::Adasum<ap::Of::updates>{});
}
