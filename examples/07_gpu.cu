// Trains on a GPU. The program resembles 01_train.cpp, has Cuda{} as an additional argument, and is compiled by nvcc.
//   nvcc -std=c++20 -arch=native -DEIGEN_NO_CUDA -Iinclude -isystem <eigen3> 07_gpu.cu -lcublas -lcusolver
// [readme
#include <algoperf/algoperf.hpp>
#include <algoperf/backend/cuda.cuh>
#include <algoperf/workloads/glyph_digits.hpp>
namespace ap = algoperf;

int main() {
  const ap::GlyphDigits task{.target_error = 0.03};
  ap::TrainingLoop loop(task.model(), task.loss(), ap::adamw({.weight_decay = 0.1}),
                        ap::WarmupCosine{.peak = 4e-3, .warmup = 50, .total = 1500},
                        ap::ShuffledEpochs{.batch = 128, .seed = 1}, ap::Cuda{});
  const auto end = loop.run(task.train(), ap::Evaluate(task, {.every = 100}), ap::UntilTarget{task.target()},
                            ap::UntilStep{1500}, ap::ProgressBar{});
  return end.target_reached() ? 0 : 1;
}
// readme]
