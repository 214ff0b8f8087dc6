// Trains a small network until it reaches a validation target. Takes a few seconds and needs no data files.
// [readme
#include <algoperf/algoperf.hpp>
#include <algoperf/workloads/glyph_digits.hpp>
namespace ap = algoperf;

int main() {
  const ap::GlyphDigits task{.target_error = 0.03};
  ap::TrainingLoop loop(task.model(), task.loss(),
                        ap::chain(ap::ClipByGlobalNorm{.max_norm = 1}, ap::Adam{.beta2 = 0.98},
                                  ap::DecayedWeights{.rate = 0.1}, ap::Descend{}),
                        ap::WarmupCosine{.peak = 4e-3, .warmup = 50, .total = 1500},
                        ap::ShuffledEpochs{.batch = 128, .seed = 1});
  const auto end = loop.run(task.train(), ap::Evaluate(task, {.every = 100}), ap::UntilTarget{task.target()},
                            ap::UntilStep{1500}, ap::ProgressBar({.total = 1500}));
  return end.target_reached() ? 0 : 1;
}
// readme]
