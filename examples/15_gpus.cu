// Trains one model on all GPUs of this machine, with one thread for each.
//   nvcc -std=c++20 -arch=native -DEIGEN_NO_CUDA -Iinclude -isystem <eigen3> 15_gpus.cu -lcublas -lcusolver -lnccl
// [readme
#include <algoperf/algoperf.hpp>
#include <algoperf/backend/cuda.cuh>
#include <algoperf/combine/group/nccl.cuh>
#include <algoperf/combine/group/threads.hpp>
#include <algoperf/workloads/glyph_digits.hpp>
namespace ap = algoperf;

int main() {
  int gpus = 0;
  cudaGetDeviceCount(&gpus);
  const ap::GlyphDigits task;
  ap::run_ranks(static_cast<std::size_t>(gpus), [&](ap::Threads group) {
    cudaSetDevice(static_cast<int>(group.rank()));
    ap::TrainingLoop loop(task.model(), task.loss(), ap::adamw(),
                          ap::WarmupCosine{.peak = 1e-2, .warmup = 20, .total = 400}, ap::ShuffledEpochs{.batch = 512},
                          ap::Mean{}, ap::Nccl{group}, ap::Cuda{});
    loop.run(task.train(), ap::Evaluate{task, {.every = 100}}, ap::UntilStep{400}, ap::ProgressBar{});
  });
}
// readme]
