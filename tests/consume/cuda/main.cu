#include <cuda_runtime.h>

#include <algoperf/backend/cuda.cuh>
#include <algoperf/rules/recipes/adamw.hpp>
#include <cstdio>
#ifdef WITH_NCCL
#include <algoperf/combine/group/nccl.cuh>
#include <algoperf/combine/group/threads.hpp>
#endif

namespace ap = algoperf;

// Runs one step of AdamW in device memory. Returns 0 if it went downhill, 77 if there is no device.
int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("no CUDA device: compiled only");
    return 77;
  }
#ifdef WITH_NCCL
  if (ap::Nccl{ap::Threads{}}.connect() != nullptr) return 1;  // one rank needs no NCCL
#endif
  const ap::Cuda<> device;
  ap::Layout layout;
  layout.add({.name = "x", .shape = {2}});
  const auto rule = ap::adamw();
  auto state = rule.state(device, layout);
  auto gradients = device.array<float>(layout.size()), values = device.array<float>(layout.size());
  device.fill(2, gradients.data(), 1.0f);
  rule.step(ap::Update<float>{gradients.data(), values.data()}, state, {.t = 1, .learning_rate = 0.5});
  float x[2];
  device.read(2, values.data(), x);
  return x[0] < 0 && x[1] < 0 ? 0 : 1;
}
